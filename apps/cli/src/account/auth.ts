import type { SignUp } from "@svc/client"
import { keyHint, recogniseKey } from "@svc/keys"
import type { Context, Outcome } from "../command.ts"
import { CliError, onCode } from "../errors.ts"
import { labelled, type Labels } from "../output/labelled.ts"
import { pairs } from "../output/table.ts"
import { platformOf } from "../services/api.ts"
import { requireSafeForKeys } from "../settings/api-url.ts"
import { forgetContexts, storeContext } from "../settings/contexts.ts"
import {
  changeCredentials,
  type Credential,
  credentialsFile,
  type OpenCredentials,
  readCredentials,
} from "../settings/credentials.ts"
import { copyUrls } from "../settings/settings.ts"
import { despiteSignals } from "../until-stopped.ts"
import { apiUrl, type ApiWithKey, apiWithKey, entryOf, keysFor, noteEnvironmentKey, ownerOf } from "../settings/key.ts"

type Identity = {
  readonly slug: string | null
  readonly display_name: string | null
  readonly status: string
  readonly api_url: string
  readonly key_hint: string | null
}

const labels: Labels<Identity> = {
  slug: "Agent",
  display_name: "Name",
  status: "Status",
  api_url: "API",
  key_hint: "Key",
}

type Shown = Outcome & {
  readonly json: Identity & { readonly person?: { readonly key_hint: string | null } }
}

const outcome = (identity: Identity, person?: string | null): Shown => ({
  json: person === undefined ? identity : { ...identity, person: { key_hint: person } },
  text: (style) => pairs([...labelled(identity, labels), ["Person", person]], style),
})

const nobody = (url: string): Identity => ({
  slug: null,
  display_name: null,
  status: "signed-out",
  api_url: url,
  key_hint: null,
})

const profileOf = async (api: ApiWithKey): Promise<Identity> => {
  const { slug, display_name, status } = await platformOf(api).me()
  return { slug, display_name, status, api_url: api.url, key_hint: keyHint(api.key) }
}

/** A person has no profile at the API. A person's specs tell whether the key is valid. */
const personOf = async (api: ApiWithKey): Promise<Identity> => {
  await platformOf(api).specs.list({ limit: 1 })
  return { ...nobody(api.url), status: "active", key_hint: keyHint(api.key) }
}

/** `svc auth status`: whose keys are stored. Fails if there is none, or if the API rejects one. */
export const authStatus = async (context: Context): Promise<Shown> => {
  const url = await apiUrl(context)
  const { agent, person } = await keysFor(context, url)
  if (person === undefined) return outcome(await profileOf(await apiWithKey(context)))
  requireSafeForKeys(url)
  const { env } = context
  const owner = await personOf({ url, key: person, env })
  const identity = agent === undefined ? { ...owner, key_hint: null } : await profileOf({ url, key: agent, env })
  return outcome(identity, owner.key_hint)
}

/** Makes the copy whose key was stored the current context. The key is safe already, so a failure is only told. */
const enter = async (context: Context, urls: Awaited<ReturnType<typeof copyUrls>>): Promise<void> => {
  await storeContext(context.folder, urls).catch(
    onCode(undefined, ({ message }) => context.note(`${message} The current context stays what it was.`)),
  )
}

/** `svc auth login`: stores a key from the standard input once the API has accepted it. */
export const authLogin = async (context: Context): Promise<Outcome> => {
  const urls = await copyUrls({ ...context, prefersCopy: true })
  const url = urls.api_url
  requireSafeForKeys(url)
  const key = await context.readLine()
  if (recogniseKey(key) === undefined) {
    const message = "The standard input isn't a secret key (svc_ak_ or svc_sk_, then 38 letters and digits)."
    throw new CliError("invalid-api-key", message, { next: "Next: svc auth login < KEY-FILE" })
  }
  return changeCredentials(context.folder, async ({ credentials, save }) => {
    const owner = ownerOf(key)
    const place = entryOf(url, owner)
    const identity = await (owner === "agent" ? profileOf : personOf)({ url, key, env: context.env })
    const old = credentials[place]
    const entry = { api_key: key, slug: identity.slug ?? "", display_name: identity.display_name ?? "" }
    const isOther = old !== undefined && old.api_key !== key
    const failure = (what: string) => new CliError("key-not-saved", `${what}.`)
    const backup = await save({ ...credentials, [place]: entry }, failure, isOther)
    if (backup !== undefined) context.note(`Another key was stored before; the old file is ${backup}.`)
    noteEnvironmentKey(context)
    await enter(context, urls)
    return outcome(identity)
  })
}

/** What a sign-up's response says that is stored and shown. A new member belongs here, or among those left out. */
type Stored = Readonly<Record<Exclude<keyof SignUp, "api_key" | "key_id" | "message">, string>>

/** `svc auth signup`: registers an agent and stores its key without printing it. */
export const authSignup = async (context: Context): Promise<Outcome> => {
  const urls = await copyUrls({ ...context, prefersCopy: true })
  const url = urls.api_url
  // The response contains the key.
  requireSafeForKeys(url)
  const signUp = async ({ credentials, save }: OpenCredentials): Promise<Outcome> => {
    const old = credentials[url]
    if (old !== undefined && !context.flags.has("force")) {
      throw new CliError("already-signed-up", `A key of ${old.slug || "an agent"} is already stored for ${url}.`)
    }
    const { name } = context.options
    const agent = name === undefined ? {} : { display_name: name }
    const { api_key: key, slug, display_name } = await platformOf({ url, env: context.env }).signUp(agent)
    if (!key) throw new CliError("unexpected-answer", `The response of ${url} to the sign-up has no key.`)
    const who = { slug, display_name } satisfies Stored
    const identity = { ...who, status: "active", api_url: url, key_hint: keyHint(key) }
    const entry: Credential = { api_key: key, ...who }
    const failure = (what: string): CliError => {
      const message = `${who.slug} is registered, but ${what}. Its key is on stdout, only now: store it.`
      return new CliError("key-not-saved", message, { extra: { ...identity, api_key: key }, rescued: key })
    }
    const backup = await save({ ...credentials, [url]: entry }, failure, old !== undefined)
    if (backup !== undefined) context.note(`The old credentials are in ${backup}.`)
    noteEnvironmentKey(context)
    context.note(`The key is stored in ${credentialsFile(context.folder)}.`)
    await enter(context, urls)
    return outcome(identity)
  }
  return changeCredentials(context.folder, (open) => despiteSignals(context, () => signUp(open)))
}

/** `svc auth logout`: forgets the stored keys of this API URL, the person's too, and its context. They stay valid: the API isn't called. */
export const authLogout = async (context: Context): Promise<Outcome> => {
  const url = await apiUrl(context)
  const end = (old: Credential | undefined): Outcome => {
    if (old === undefined) context.note(`No key was stored for ${url}.`)
    noteEnvironmentKey(context)
    const { slug = null, display_name = null } = old ?? {}
    return outcome({ ...nobody(url), slug, display_name, key_hint: old === undefined ? null : keyHint(old.api_key) })
  }
  const place = entryOf(url, "person")
  const before = await readCredentials(context.folder)
  const isStored = before[url] !== undefined || before[place] !== undefined
  const forgotten = isStored
    ? await changeCredentials(context.folder, async ({ credentials, save }) => {
        const { [url]: agent, [place]: person, ...rest } = credentials
        await save(rest)
        return agent ?? person
      })
    : undefined
  // Last: if the keys can't be removed, the next logout must still find this API.
  await forgetContexts(context.folder, url)
  return end(forgotten)
}
