/** Orders received messages so that the networks of their clients take turns. */
import { netblockOf } from '../../protocols/dns/netblock.ts'

interface FromClient {
  /** Address of the client; null for local delivery, which counts as one network. */
  clientIp: string | null
}

/**
 * @param waiting the messages of each network in their order
 * @param inProgress messages that have had their turn: their networks come later
 * @returns those that wait: the next one of each network, then the second of each, and so on
 */
export function inTurns<T extends FromClient>(waiting: readonly T[], inProgress: readonly FromClient[]): T[] {
  const counts = new Map<string, number>()
  const placeOf = ({ clientIp }: FromClient): number => {
    const netblock = netblockOf(clientIp ?? '')
    const place = counts.get(netblock) ?? 0
    counts.set(netblock, place + 1)
    return place
  }
  for (const message of inProgress) placeOf(message)
  return waiting
    .map(message => ({ message, place: placeOf(message) }))
    .sort((a, b) => a.place - b.place)
    .map(({ message }) => message)
}
