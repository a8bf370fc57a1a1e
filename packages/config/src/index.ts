export { ConfigError, loadConfig, SetupError } from "./load-config.ts"
export { cidrs, field, flag, integer, list, oneOf, secret, text, url, urls } from "./fields.ts"
export { readBoth, textOrFile } from "./readings.ts"
export { Secret } from "./secret.ts"
