import { expect, test } from "vitest"

import { buildArguments, chooseEngine, registrySettings } from "../image-engine.ts"

const working = (answers: (line: string) => boolean) =>
  chooseEngine((command, args, env) => answers([env?.["STORAGE_DRIVER"] ?? "", command, ...args].join(" ").trim()))

test("a docker client without a running engine is skipped", () => {
  expect(working((line) => line === "docker version" || line === "buildah info")?.command).toBe("buildah")
})

test("buildah keeps its own storage driver if that works, and otherwise uses vfs", () => {
  expect(working((line) => line.startsWith("buildah"))?.env).toEqual({ BUILDAH_ISOLATION: "chroot" })
  expect(working((line) => line.startsWith("vfs buildah"))?.env).toMatchObject({ STORAGE_DRIVER: "vfs" })
})

test("the engine in SVC_IMAGE_ENGINE is used, or none", () => {
  const all = () => true
  expect(chooseEngine(all, "podman")?.command).toBe("podman")
  expect(chooseEngine(all, "buildah")?.command).toBe("buildah")
  expect(chooseEngine((command) => command === "docker", "podman")).toBeUndefined()
})

test("without a working engine the result is undefined", () => {
  expect(working(() => false)).toBeUndefined()
})

test("unset values aren't passed to the build, and credentials only as a secret's file", () => {
  const build = { app: "relay", version: "1.0.0", npmrc: "settings/npmrc" }
  const unset = { base: undefined, certificates: undefined, revision: undefined }
  expect(buildArguments({ command: "docker", env: {} }, { ...build, ...unset })).toEqual(
    "build --file infra/Dockerfile --tag svc/relay:1.0.0 --build-arg APP=relay --build-arg VERSION=1.0.0 --secret id=npmrc,src=settings/npmrc .".split(
      " ",
    ),
  )
})

test("of npm's settings only registries, credentials and proxies reach the build", () => {
  const machine = "cafile=certificates.pem\nprefix=folder\nregistry=https://packages.example\n"
  const person =
    "//packages.example/:_authToken=abc\r\n@svc:registry=https://packages.example\nhttps-proxy=x\nnodedir=y"
  expect(registrySettings([machine, person]).split("\n")).toEqual([
    "registry=https://packages.example",
    "//packages.example/:_authToken=abc",
    "@svc:registry=https://packages.example",
    "https-proxy=x",
  ])
})
