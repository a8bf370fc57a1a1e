type Numbers = Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array

/**
 * An array that one reading after the other uses: small ones that are made anew for each keep the garbage collector busy.
 * Each call ends the use of what the call before it returned.
 */
export const createScratch = <Kind extends Numbers>(make: (length: number) => Kind) => {
  let kept = make(64)
  return (length: number, value = 0): Kind => {
    if (kept.length < length) kept = make(2 * length)
    return kept.subarray(0, length).fill(value) as Kind
  }
}
