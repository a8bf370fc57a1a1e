import { gunzipSync } from "node:zlib"
import { createHash } from "node:crypto"
import { request } from "node:http"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { publish, unpublish } from "../src/operator/publish.ts"
import { parseAst } from "../src/registry/parse-ast.ts"
import { databaseKinds, startTestService, type TestService } from "./service.ts"
import { smallAst } from "./registry/small-ast.ts"

