import { once } from 'node:events'
import { Agent, request } from 'node:http'
import * as assert from 'uvu/assert'
import { battery } from './battery.ts'
import { type Field, PROXY } from './field.ts'
import { scaled } from './scale.ts'

/**
 * Guessing at passwords, and floods of guesses, from addresses that a trusted proxy tells of: few guesses are
 * checked, and people with the right password sign in. Each row has networks of its own, so that it does not
 * meet the penalties of another one.
 */
const { attack, soak, run } = battery('sign-in')

const FLOOD_MS = scaled(8_000, 4_000)
const FLOODERS = 40
/** More than any counter lets through, and far fewer than are tried. */
const CHECKED_MAX = { ofOneNetwork: 10, ofOneSite: 20, overAllAccounts: 25, ofManyNetworks: 20 }

interface Guess {
  /** Client address that the proxy reports. */
  from: string
  email: string
}

/** @returns the status */
async function guess({ ports }: Field, agent: Agent, { from, email }: Guess): Promise<number> {
  const body = JSON.stringify({ email, password: `wrong ${Math.random()}` })
  const requests = request({
    ...{ host: '127.0.0.1', port: ports.http, path: '/auth/login', method: 'POST', agent },
    localAddress: PROXY,
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-forwarded-for': from,
    },
  })
  requests.end(body)
  const [response] = await once(requests, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

/** So many at once until the time is over, or the guesses are. @returns how often each status was answered */
async function flood(
  field: Field,
  next: (number: number) => Guess | undefined,
  { clients = FLOODERS, forMs = FLOOD_MS } = {},
): Promise<Map<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const statuses = new Map<number, number>()
  const deadline = performance.now() + forMs
  let number = 0
  const client = async () => {
    while (performance.now() < deadline) {
      const one = next(number++)
      if (!one) return
      const status = await guess(field, agent, one)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: clients }, client))
  } finally {
    agent.destroy()
  }
  return statuses
}

const shown = (statuses: Map<number, number>) =>
  [...statuses].map(([status, count]) => `${count} x ${status}`).join(', ')

const hex = (number: number) => number.toString(16)

attack('a flood of logins to random accounts, one address', async ({ field, note }) => {
  note(shown(await flood(field, number => ({ from: '192.0.2.66', email: `user${number}@acme.example` }))))
})

attack('a flood of logins to random accounts, 200 addresses', async ({ field, note }) => {
  const next = (number: number) => ({ from: `192.0.3.${number % 200}`, email: `user${number}@acme.example` })
  note(shown(await flood(field, next)))
})

attack('a flood of logins to random accounts, one /48', async ({ field, note }) => {
  const next = (number: number) => ({
    from: `2001:db8:48:${hex(number % 65_536)}::1`,
    email: `user${number}@acme.example`,
  })
  note(shown(await flood(field, next)))
})

/** @param most of them whose password is checked */
async function requireFew(
  field: Field,
  next: (number: number) => Guess | undefined,
  max: number,
): Promise<string> {
  const statuses = await flood(field, next, { clients: 2, forMs: 60_000 })
  const checked = statuses.get(401) ?? 0
  assert.ok(checked > 0, 'no guess was checked')
  assert.ok(checked <= max, `${checked} guesses were checked: ${shown(statuses)}`)
  return shown(statuses)
}

const tries = (count: number, guessOf: (number: number) => Guess) => (number: number) =>
  number < count ? guessOf(number) : undefined

attack('guesses at the password of somebody who signs in meanwhile, one /56', async ({ field, note }) => {
  const { email } = field.visit.login
  const next = tries(40, number => ({ from: `2001:db8:1:${hex(number)}::1`, email }))
  note(await requireFew(field, next, CHECKED_MAX.ofOneNetwork))
})

attack('guesses at the password of somebody who signs in meanwhile, one /48', async ({ field, note }) => {
  const { email } = field.visit.login
  const next = tries(120, number => ({ from: `2001:db8:2:${hex(number * 256)}::1`, email }))
  note(await requireFew(field, next, CHECKED_MAX.ofOneSite))
})

attack("guesses at a user's password, 60 IPv4 addresses", async ({ field, note }) => {
  const next = tries(60, number => ({ from: `198.51.100.${number + 1}`, email: field.eve.login.email }))
  note(await requireFew(field, next, CHECKED_MAX.ofManyNetworks))
})

attack('guesses at 60 accounts, one address', async ({ field, note }) => {
  const next = tries(60, number => ({ from: '192.0.2.99', email: `user${number}@acme.example` }))
  note(await requireFew(field, next, CHECKED_MAX.overAllAccounts))
})

attack('an owner who has signed in there before signs in while strangers guess', async ({ field }) => {
  const { status } = await field.call('POST', '/auth/login', { body: field.eve.login })
  assert.is(status, 200)
})

soak()
run()
