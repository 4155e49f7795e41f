/**
 * Properties tried on the same cases in every run, so that a failure is of the change at hand. `FUZZ_SEED`
 * for other cases.
 */
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FUZZ_SEED ?? 20_261_122) })

export type { Arbitrary } from 'fast-check'
export { fc }
