/** What the simulator's domain is called. */

/** While the installation has no name. `.test` is reserved (RFC 6761 §6.2): no real mail goes there. */
export const LABORATORY_SIMULATOR = 'simulator.test'

/** The default once it has one. */
export function simulatorOf(mailHost: string): string {
  return `simulator.${mailHost}`
}
