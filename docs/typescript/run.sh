#!/usr/bin/env bash
# Makes TypeScript types of the example service's OpenAPI document, compiles
# try.ts against them, and runs it against the service where one is given:
# docs/typescript/run.sh [URL APIKEY]. Needs Node and npm; without them it says so
# and is done.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
	echo "skipped: Node and npm are not installed"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp try.ts "$work/"
document=$PWD/../../example-service/openapi.yaml
cd "$work"
cat >package.json <<'JSON'
{"private": true, "type": "module"}
JSON
npm install --silent --no-audit --no-fund --ignore-scripts \
	openapi-typescript@7.13.0 openapi-fetch@0.17.0 typescript@5.9.3 @types/node@22.19.1
npx openapi-typescript "$document" --output payments.ts
npx tsc --strict --target es2022 --module nodenext --moduleResolution nodenext --skipLibCheck --types node try.ts
if [ $# -eq 2 ]; then
	node try.js "$1" "$2"
fi
