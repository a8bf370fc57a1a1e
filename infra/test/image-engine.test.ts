import { expect, test } from "vitest"

import { buildArguments, chooseEngine, registrySettings } from "../image-engine.ts"

const working = (answers: (line: string) => boolean) =>
  chooseEngine((command, args, env) => answers([env?.["STORAGE_DRIVER"] ?? "", command, ...args].join(" ").trim()))

test("a docker client whose engine is away is passed over", () => {
  expect(working((line) => line === "docker version" || line === "buildah info")?.command).toBe("buildah")
})

test("buildah keeps its own storage driver where that works and takes vfs where it does not", () => {
  expect(working((line) => line.startsWith("buildah"))?.env).toEqual({ BUILDAH_ISOLATION: "chroot" })
  expect(working((line) => line.startsWith("vfs buildah"))?.env).toMatchObject({ STORAGE_DRIVER: "vfs" })
})

test("an engine that is named is taken, or none", () => {
  const all = () => true
  expect(chooseEngine(all, "podman")?.command).toBe("podman")
  expect(chooseEngine(all, "buildah")?.command).toBe("buildah")
  expect(chooseEngine((command) => command === "docker", "podman")).toBeUndefined()
})

test("without any engine there is none", () => {
  expect(working(() => false)).toBeUndefined()
})

test("what is unset is not passed to the build, and credentials only as a secret's file", () => {
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
