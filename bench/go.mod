module github.com/idemgen/idemgen/bench

go 1.25.0

require github.com/idemgen/idemgen v0.0.0

replace github.com/idemgen/idemgen => ../
