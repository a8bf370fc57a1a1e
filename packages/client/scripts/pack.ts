import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { promisify } from "node:util"

export type Packed = {
  /** The folder of the workspace's package; its README goes into the package, its dist folder gets the result. */
  readonly folder: string
  readonly name: string
  readonly manifest: Readonly<Record<string, unknown>> & { readonly version: string }
  /** Writes the package's files into an empty folder. */
  readonly fill: (folder: string) => Promise<void>
  /** Files and folders that are wanted beside the package too. What a file needs comes before it. */
  readonly loose?: readonly string[]
}

/** Packs dist/NAME.tgz as npm does: the same bytes for the same files. */
export const pack = async ({ folder, name, manifest, fill, loose = [] }: Packed): Promise<void> => {
  const dist = join(folder, "dist")
  await mkdir(dist, { recursive: true })
  // In a folder of its own until it is whole: another build may run beside this one.
  const work = await mkdtemp(join(dist, ".build-"))
  const inside = join(work, "package")
  try {
    await mkdir(inside)
    await fill(inside)
    await writeFile(join(inside, "package.json"), `${JSON.stringify({ name, ...manifest }, undefined, 2)}\n`)
    await copyFile(join(folder, "README.md"), join(inside, "README.md"))
    await copyFile(join(import.meta.dirname, "../../../LICENSE"), join(inside, "LICENSE"))
    const options = ["--pack-destination", work, "--ignore-scripts", "--no-update-notifier", "--loglevel", "error"]
    await promisify(execFile)("npm", ["pack", inside, ...options], { shell: process.platform === "win32" })
    await rename(join(work, `${name}-${manifest.version}.tgz`), join(dist, `${name}.tgz`))
    const files = (await readdir(inside, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name: file }) => relative(inside, join(parentPath, file)))
    for (const wanted of loose) {
      for (const file of files.filter((one) => one === wanted || one.startsWith(`${wanted}/`))) {
        await mkdir(dirname(join(dist, file)), { recursive: true })
        await rename(join(inside, file), join(dist, file))
      }
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
