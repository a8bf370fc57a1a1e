/** The longest delay of a timer, in milliseconds: 24 days. One with a longer delay fires at once. */
export const longestDelayMs = 2 ** 31 - 1
