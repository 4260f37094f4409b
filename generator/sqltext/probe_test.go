package sqltext
import ("testing";"fmt"; pg "github.com/sqlc-dev/oliphant"; "github.com/sqlc-dev/oliphant/parser";"errors")
func TestProbe(t *testing.T){
 s:="/* é */ WITH a AS (SELECT 1) INSERT INTO t (a,b) VALUES ('é', $2::text, DEFAULT) -- x\n ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE t.a=$1 RETURNING a, E'\\'x', $$q$$, u&'\\0061', t.\"Ü\";"
 r,err:=pg.Scan(s); fmt.Println(err)
 for _,k:=range r.Tokens { fmt.Print(k.Token," ",k.KeywordKind," ",s[k.Start:k.End],"\n") }
 p,err:=pg.Parse(s); fmt.Println(p,err)
 _,err=pg.Parse("SELECT 'é', 1 FROM FROM x"); var e *parser.Error; fmt.Println(errors.As(err,&e), err, e)
 _,err=pg.Parse("SELECT 'é', 1 FROM 'abc"); fmt.Println(errors.As(err,&e), err, e.Cursorpos)
 _,err=pg.Scan("SELECT 'é', 1 FROM 'abc"); fmt.Println(errors.As(err,&e), err, e)
 p,err=pg.Parse("SELECT 1; ;  -- c\n SELECT 2"); fmt.Println(p,err)
 p,err=pg.Parse("-- c\n"); fmt.Println(p,err)
 p,err=pg.Parse("(SELECT 1) FOR UPDATE"); fmt.Println(p,err)
}
