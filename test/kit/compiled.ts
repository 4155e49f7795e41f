/** The setting by which programs that tests start find what the test run has compiled, where it has. */
export function compiled(): Record<string, string> {
  const { NODE_COMPILE_CACHE: folder } = process.env
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
}
