// Writes one bill of materials per app, out/sbom/<app>.cdx.json (CycloneDX 1.6): what runs in production, with versions,
// licences and hashes from the lockfile. Each is checked against the official schema.
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"

import { Spec, Validation } from "@cyclonedx/cyclonedx-library"

const root = join(import.meta.dirname, "..")
const folder = join(root, "out/sbom")
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const format = ["--sbom-format", "cyclonedx", "--sbom-spec-version", "1.6", "--sbom-type", "application"]
const output = ["--split", "--out", "out/sbom/%s.cdx.json"]
execFileSync("pnpm", ["sbom", ...format, ...output, "--prod", "--filter", "./apps/*", "--fail-if-no-match"], {
  cwd: root,
  stdio: ["ignore", "ignore", "inherit"],
})

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
for (const name of readdirSync(folder)) {
  const text = readFileSync(join(folder, name), "utf8")
  const failure = await validator.validate(text)
  const { components } = JSON.parse(text) as { components: unknown[] }
  if (failure === null) console.log(`out/sbom/${name}: ${components.length} components, valid`)
  else {
    console.error(`out/sbom/${name} is not valid: ${JSON.stringify(failure).slice(0, 2000)}`)
    process.exitCode = 1
  }
}
