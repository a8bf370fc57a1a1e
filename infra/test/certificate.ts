import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"

/** Writes a new key and its own certificate for host names, which is valid for a number of days. */
export const makeCertificate = (key: string, cert: string, names: readonly string[], days: number): void => {
  const subject = ["-subj", "/CN=svc", "-addext", `subjectAltName=${names.map((name) => `DNS:${name}`).join()}`]
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key]
  const made = spawnSync("openssl", ["req", "-x509", ...curve, "-out", cert, "-days", `${days}`, ...subject])
  assert.equal(made.status, 0, String(made.stderr))
}
