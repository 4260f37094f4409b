package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/contract"
	"github.com/idemgen/idemgen/generator/model"
)

// Tool is the definition of an operation as a tool of the Model Context Protocol
// (revision 2025-06-18): name, description, JSON Schema of the arguments, and hints.
// The schemas are those of OpenAPI's request bodies.
func Tool(svc *model.Service, op *model.Operation) ([]byte, error) {
	t := op.Tool
	reads := op.ReadOnly()
	root := object(
		entry{"name", text(t.Name)},
		entry{"description", text(t.Description)},
		entry{"inputSchema", toolSchema(svc, op)},
		entry{"annotations", object(
			entry{"readOnlyHint", boolean(reads)},
			entry{"destructiveHint", boolean(!reads && t.Destructive)},
			entry{"idempotentHint", boolean(reads || op.Key.Protects())},
			entry{"openWorldHint", boolean(t.OpenWorld)},
		)},
	)
	var compact, out bytes.Buffer
	if err := writeJSON(&compact, root); err != nil {
		return nil, fmt.Errorf("the tool %s: %w", t.Name, err)
	}
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("the tool %s: %w", t.Name, err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// toolSchema is the schema of a tool's arguments, the key's own among them.
func toolSchema(svc *model.Service, op *model.Operation) *yaml.Node {
	schema := formOf(svc).object(contract.Arguments(op), asked, false)
	if !op.Tool.KeyArgument {
		return schema
	}
	key := object(
		entry{"type", text("string")},
		entry{"pattern", text(`^[!-~]{1,255}$`)},
		entry{"description", text("Names this call: the same call with the same key again is answered with the recorded result, and does nothing. " +
			"Make it of what the call is for, like the order's number. Leave it out where the host names sessions and steps.")},
	)
	for i := 0; i+1 < len(schema.Content); i += 2 {
		if schema.Content[i].Value == "properties" {
			schema.Content[i+1].Content = append(schema.Content[i+1].Content, text("idempotency_key"), key)
			return schema
		}
	}
	schema.Content = append(schema.Content, text("properties"), object(entry{"idempotency_key", key}))
	return schema
}

// writeJSON writes a tree as JSON, members in their order.
func writeJSON(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, n.Content[i]); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := writeJSON(out, n.Content[i+1]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case yaml.ScalarNode:
		return writeScalar(out, n)
	default:
		return fmt.Errorf("a schema holds a node of kind %d", n.Kind)
	}
	return nil
}

// writeScalar writes numbers and booleans as they are, texts quoted.
func writeScalar(out *bytes.Buffer, n *yaml.Node) error {
	if n.Tag != "!!str" {
		out.WriteString(n.Value)
		return nil
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(n.Value); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // Encode ends the line
	return nil
}
