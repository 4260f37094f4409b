module example.com/cases

go 1.25.0
