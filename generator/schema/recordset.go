package schema

import (
	"maps"
	"slices"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/idemgen/idemgen/generator/model"
)

// recordset is a parameter whose columns the statement spells out.
type recordset struct{ model.Recordset }

// recordFunctions are the functions that make rows of a JSON document; true
// for those that make many.
var recordFunctions = map[string]bool{
	"jsonb_to_recordset": true, "json_to_recordset": true, "jsonb_to_record": false, "json_to_record": false,
	"jsonb_populate_recordset": true, "json_populate_recordset": true,
	"jsonb_populate_record": false, "json_populate_record": false,
}

// noteRecordset keeps the column list of a function over a parameter.
func (a *analysis) noteRecordset(f *pg.RangeFunction) {
	call := soleCall(f)
	many, known := recordFunctions[funcName(call)]
	if !known || len(call.Args) == 0 {
		return
	}
	param := stripCasts(call.Args[len(call.Args)-1]).GetParamRef()
	if param == nil {
		return
	}
	rs := &recordset{model.Recordset{Param: int(param.Number), List: many}}
	if len(call.Args) == 1 {
		rs.Columns = a.definedColumns(f.Coldeflist)
	} else {
		rs.Columns = a.columnsOfType(call.Args[0].GetTypeCast().GetTypeName())
	}
	if len(rs.Columns) > 0 {
		a.recordsets[rs.Param] = rs
	}
}

func (a *analysis) definedColumns(list []*pg.Node) []model.RecordColumn {
	var out []model.RecordColumn
	for _, n := range list {
		def := n.GetColumnDef()
		out = append(out, model.RecordColumn{Name: def.GetColname(), Type: typeOf(def.GetTypeName(), a.cat.lookupType).sqlName()})
	}
	return out
}

// columnsOfType are the columns of the row type in NULL::t.
func (a *analysis) columnsOfType(t *pg.TypeName) []model.RecordColumn {
	if t == nil || len(t.ArrayBounds) > 0 {
		return nil
	}
	name := qualified(texts(t.Names))
	row := a.cat.table(name)
	if row == nil {
		row = a.cat.tableIn(a.cat.composites, name)
	}
	if row == nil {
		return nil
	}
	var out []model.RecordColumn
	for _, c := range row.Columns {
		out = append(out, model.RecordColumn{Name: c.Name, Type: c.Type.Name})
	}
	return out
}

// recordsetOf is the recordset that a function call reads, nil if it reads none.
func (a *analysis) recordsetOf(call *pg.FuncCall) *recordset {
	if _, known := recordFunctions[funcName(call)]; !known || len(call.Args) == 0 {
		return nil
	}
	param := stripCasts(call.Args[len(call.Args)-1]).GetParamRef()
	if param == nil {
		return nil
	}
	return a.recordsets[int(param.Number)]
}

// feed notes the first column of a table that a column is stored in.
func (r *recordset) feed(record string, table model.TableName, column string) {
	for i := range r.Columns {
		if c := &r.Columns[i]; c.Name == record && c.Column == "" {
			c.Table, c.Column = table, column
		}
	}
}

// finishRecordsets keeps the parameters that are used nowhere else.
func (a *analysis) finishRecordsets() {
	for _, param := range slices.Sorted(maps.Keys(a.recordsets)) {
		if a.uses[param] == 1 {
			a.shape.Recordsets = append(a.shape.Recordsets, a.recordsets[param].Recordset)
		}
	}
}
