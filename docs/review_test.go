package docs_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/idemgen/idemgen/generator/review"
	"github.com/idemgen/idemgen/internal/cli"
)

// TestRulesOfReviewAreDocumented compares the table with the rules, row by row.
func TestRulesOfReviewAreDocumented(t *testing.T) {
	text := section(t, readPage(t, "reviewing.md"), "What counts as a risk")
	var got []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "| `") {
			got = append(got, line)
		}
	}
	code := strings.NewReplacer("@intent", "`@intent`", "@operation", "`@operation`")
	var want []string
	for _, r := range review.Rules() {
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", r.ID, r.Severity, code.Replace(r.Means), code.Replace(r.Way)))
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %s", want[i])
		case i >= len(want):
			t.Errorf("no such rule: %s", got[i])
		case got[i] != want[i]:
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

func isReviewRule(id string) bool {
	return slices.ContainsFunc(review.Rules(), func(r review.Rule) bool { return r.ID == id })
}

// workflow is as much of a workflow of GitHub Actions as is tested.
type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Env         map[string]string
	Jobs        map[string]struct {
		RunsOn string `yaml:"runs-on"`
		Steps  []workflowStep
	}
}

type workflowStep struct {
	Name, Uses, Run, If string
	With                map[string]any
	Env                 map[string]string
}

func readWorkflow(t *testing.T) workflow {
	t.Helper()
	text, err := os.ReadFile("review-workflow.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w workflow) step(t *testing.T, name string) workflowStep {
	t.Helper()
	steps := w.Jobs["review"].Steps
	i := slices.IndexFunc(steps, func(s workflowStep) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no step %q", name)
	}
	return steps[i]
}

func TestReviewWorkflow(t *testing.T) {
	w := readWorkflow(t)
	if w.On["pull_request"] == nil && !slices.Contains(keys(w.On), "pull_request") || w.Permissions["pull-requests"] != "write" || w.Permissions["contents"] != "read" {
		t.Errorf("on %v, permissions %v", w.On, w.Permissions)
	}
	for _, s := range w.Jobs["review"].Steps {
		if (s.Uses == "") == (s.Run == "") {
			t.Errorf("%s: a step either uses or runs", s.Name)
		}
		if strings.Contains(s.Run, "${{") {
			t.Errorf("%s: an expression inside a script lets a branch's name run as code", s.Name)
		}
		if s.Uses != "" && strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["fetch-depth"] != 0 {
			t.Errorf("the history is not fetched: %v", s.With)
		}
		if s.Run != "" {
			cmd := exec.CommandContext(t.Context(), "bash", "-n", "-c", s.Run)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", s.Name, err, out)
			}
		}
	}
}

func keys(m map[string]any) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// sandbox runs a step's script as the runner does (bash -e -o pipefail), with
// programs that write down how they were called.
type sandbox struct {
	t   *testing.T
	dir string
	env []string
}

func newSandbox(t *testing.T, programs map[string]string) *sandbox {
	s := &sandbox{t: t, dir: t.TempDir()}
	for name, body := range programs {
		text := "#!/bin/sh\nprintf '%s\\n' \"" + name + " $*\" >> \"$RUNNER_TEMP/calls\"\n" + body + "\n"
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + s.dir + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + s.dir, "GITHUB_STEP_SUMMARY=" + filepath.Join(s.dir, "summary"),
		"SERVICE=svc dir", "BASE=origin/main", "GITHUB_REPOSITORY=o/r", "NUMBER=7"}
	return s
}

func (s *sandbox) run(script string) int {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	cmd.Env, cmd.Dir = s.env, s.dir
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func (s *sandbox) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(text)
}

// TestReviewWorkflowTellsRisksFromFailures runs the step that reviews.
func TestReviewWorkflowTellsRisksFromFailures(t *testing.T) {
	step := readWorkflow(t).step(t, "What changed")
	for code, want := range map[int]int{0: 0, 1: 0, 2: 2} {
		s := newSandbox(t, map[string]string{"idemgen": fmt.Sprintf("echo %s\nexit %d", "'the review'", code)})
		if got := s.run(step.Run); got != want {
			t.Errorf("idemgen exits %d, the step %d, want %d", code, got, want)
		}
		if s.read("summary") != "the review\n" || s.read("review.md") != "the review\n" {
			t.Errorf("the summary is %q", s.read("summary"))
		}
	}
}

// TestReviewWorkflowKeepsOneComment runs the step that comments.
func TestReviewWorkflowKeepsOneComment(t *testing.T) {
	step := readWorkflow(t).step(t, "Comment")
	if !strings.Contains(step.Run, review.Mark) {
		t.Errorf("the step does not look for %s", review.Mark)
	}
	for ids, want := range map[string]string{
		"":                "gh api --method POST repos/o/r/issues/7/comments -F body=@",
		"echo 11; echo 9": "gh api --method PATCH repos/o/r/issues/comments/11 -F body=@",
	} {
		s := newSandbox(t, map[string]string{"gh": "case \"$*\" in *--paginate*) " + ids + "\n;; esac"})
		if code := s.run(step.Run); code != 0 {
			t.Errorf("exit code %d", code)
		}
		if calls := s.read("calls"); !strings.Contains(calls, want) || strings.Count(calls, "--method") != 1 {
			t.Errorf("calls:\n%s\nwant %s", calls, want)
		}
	}
}

// TestReviewWorkflowCallsIdemgenRight gives the calls of the scripts to the real
// command line: in an empty folder none may fail for its arguments.
func TestReviewWorkflowCallsIdemgenRight(t *testing.T) {
	calls := 0
	for _, s := range readWorkflow(t).Jobs["review"].Steps {
		if !strings.Contains(s.Run, "idemgen -C") {
			continue
		}
		box := newSandbox(t, map[string]string{"idemgen": ""})
		box.env = append(box.env, "SERVICE="+box.dir)
		box.run(s.Run)
		for _, line := range strings.Split(strings.TrimSpace(box.read("calls")), "\n") {
			var out, errs bytes.Buffer
			args := strings.Fields(line)[1:]
			code := cli.Main(t.Context(), cli.Env{Args: args, Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
			said := errs.String()
			if code != 2 || !strings.Contains(said, "no git repository") && !strings.Contains(said, "no configuration file") {
				t.Errorf("%s: exit code %d\n%s%s", line, code, out.String(), said)
			}
			calls++
		}
	}
	if calls != 2 {
		t.Errorf("%d calls of idemgen", calls)
	}
}
