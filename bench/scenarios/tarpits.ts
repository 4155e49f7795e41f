/** Mail for hosts that accept connections and say nothing waits beside mail for one that is well. */
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { HTTP_CONNECTIONS } from '../kit/load.ts'
import { type MailhornContender, mailhorn } from '../kit/mailhorn.ts'
import { addressOf, ONE_ADDRESS, prepareNetwork } from '../kit/namespace.ts'
import type { Column, Findings } from '../kit/report.ts'
import { inTurns, type Scenario, type ScenarioOptions, withStarted } from '../kit/scenario.ts'
import { withSink } from '../kit/sink.ts'

export const tarpits: Scenario = {
  what: 'deliver to one domain while the MX hosts of many others hang',
  rounds: 5,
  count: 5_000,
  domainCount: 200,
  run,
}

const ALONE = 'Mailhorn, healthy mail alone'
const EACH = 10
const WARM_UP_COUNT = 500

const COLUMNS: Column[] = [
  { figure: 'deliveredPerSecond', title: 'healthy mail delivered/s', digits: 0, against: [ALONE] },
  { figure: 'hangingCount', title: 'connections that hang', digits: 0 },
  { figure: 'extraCount', title: 'delivered twice', digits: 0 },
]

async function run(options: ScenarioOptions): Promise<Findings> {
  const { folder, count, domainCount, signingSlots, profiles } = options
  const unbound = await prepareNetwork(folder, domainCount)
  const ours = mailhorn(folder, { signingSlots, profiles })
  const among = { ...ours, name: `Mailhorn, among ${domainCount} tarpits` }
  const measurements = await inTurns(options, [{ ...ours, name: ALONE }, among], async contender => {
    const pits = await openTarpits(contender === among ? domainCount : 0)
    const figures = await withStarted(ours, { held: false }, () => measured(ours, folder, count, pits))
    pits.close()
    return figures
  })
  await unbound.end()
  return { columns: COLUMNS, measurements }
}

async function measured(ours: MailhornContender, folder: string, count: number, pits: Tarpits) {
  const load = { connections: HTTP_CONNECTIONS, domainCount: 1 }
  return withSink(
    folder,
    async sink => {
      if (pits.count > 0) await ours.feed({ ...load, count: pits.count * EACH, domainCount: pits.count })
      await ours.feed({ ...load, count: WARM_UP_COUNT })
      await sink.reached(WARM_UP_COUNT)
      await pause(1_000)
      const [{ beganAt }, deliveredAt] = await Promise.all([
        ours.feed({ ...load, count }),
        sink.reached(WARM_UP_COUNT + count),
      ])
      const hangingCount = pits.hanging()
      return {
        deliveredPerSecond: (count * 1_000) / (deliveredAt - beganAt),
        hangingCount,
        extraCount: sink.count() - WARM_UP_COUNT - count,
      }
    },
    ONE_ADDRESS,
  )
}

interface Tarpits {
  count: number
  hanging(): number
  close(): void
}

async function openTarpits(count: number): Promise<Tarpits> {
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  for (let index = 1; index <= count; index++) {
    const server = createServer(socket => {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(25, addressOf(index), resolve)
    })
    servers.push(server)
  }
  return {
    count,
    hanging: () => sockets.size,
    close() {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
