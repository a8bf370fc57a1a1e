// The console comes with its own entry.
export const isConsole = true
