import type { Secret } from "@svc/config"

/** The deploy hook's secrets: one, or several separated by spaces. */
export const hookSecretsIn = (setting: Secret): readonly string[] => setting.reveal().trim().split(/\s+/)
