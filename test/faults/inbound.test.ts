import * as assert from 'uvu/assert'
import { type Program, printedApiKey } from '../kit/process.ts'
import { sendMail } from '../kit/smtp-client.ts'
import { suite } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { FROM_DOMAIN, firstStart, openScene, type Scene } from './scene.ts'

const test = suite('kill -9 of what receives', { limitMs: 240_000 })
const CYCLES = Number(process.env.KILL_CYCLES ?? 6)
const CLIENT_COUNT = 10
/** Acknowledged in each life before it is killed, at the very moment at which the last of them is. */
const TAKEN_PER_CYCLE = 40
const FILE_BYTES = 30_000
const UNREAD = 'select id from inbound_messages where listed_at is null'

interface Senders {
  /** Subjects of what was answered with 250. */
  readonly taken: Set<string>
  /** Subjects of everything whose final dot was said. */
  readonly tried: Set<string>
  /** Sends from all clients, each until its connection is cut. @param onTaken after each 250 */
  sendUntilCut(port: number, onTaken: () => void): Promise<void>
}

function createSenders(): Senders {
  const taken = new Set<string>()
  const tried = new Set<string>()

  const client = async (port: number, onTaken: () => void) => {
    for (;;) {
      const subject = `Message ${tried.size}`
      tried.add(subject)
      const reply = await sendMail(
        { port },
        { from: 'ann@there.example', to: `bob@${FROM_DOMAIN}`, data: mailOf(subject) },
      ).catch(() => '') // the connection was refused, which is what these clients are for
      if (!/^250 /.test(reply)) return assert.is(reply, '')
      taken.add(subject)
      onTaken()
    }
  }

  return {
    taken,
    tried,
    async sendUntilCut(port, onTaken) {
      await Promise.all(Array.from({ length: CLIENT_COUNT }, () => client(port, onTaken)))
    },
  }
}

/** Returns a message with a file, so that parsing it takes a while. */
function mailOf(subject: string): string {
  const file = Buffer.alloc(FILE_BYTES, subject).toString('base64').replace(/.{76}/g, '$&\n')
  return `From: ann@there.example
To: bob@${FROM_DOMAIN}
Subject: ${subject}
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain

${subject}
--b
Content-Type: application/octet-stream; name=file.bin
Content-Transfer-Encoding: base64

${file}
--b--
`
}

function inboundPort({ logs }: Program): number {
  return (logs.find(({ msg }) => msg === 'ready')!.inbound as { port: number }).port
}

test(`${CYCLES} times between 250 and reading: what was acknowledged is listed and told once, and nothing is lost`, async t => {
  const scene = await openScene(t)
  let program = await firstStart(scene)
  const token = printedApiKey(program)
  const senders = createSenders()
  let unreadCount = 0
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    const enough = senders.taken.size + TAKEN_PER_CYCLE
    await senders.sendUntilCut(inboundPort(program), () => {
      if (senders.taken.size === enough) process.kill(program.pid, 'SIGKILL')
    })
    assert.is((await program.ended).signal, 'SIGKILL', program.output)
    unreadCount += scene.rowsLeft(UNREAD).length
    program = await scene.start()
  }
  assert.ok(unreadCount > 0, 'nothing was killed between 250 and its reading')
  await until(() => scene.rows(UNREAD).length === 0)

  const listed = await allListed(program, token)
  requireOnce(senders, listed)
  requireSoundness(scene, listed.length)
  for (const { id, subject } of listed) {
    const { body } = await program.call('GET', `/inbound/${id}`, { token })
    assert.equal([body.text.trim(), body.attachments[0].size], [subject, FILE_BYTES])
  }
  console.log(
    `${senders.taken.size} acknowledged, ${unreadCount} unread at kills, ${listed.length - senders.taken.size} taken without an answer`,
  )
})

interface Listed {
  id: string
  subject: string
}

async function allListed(program: Program, token: string): Promise<Listed[]> {
  const listed: Listed[] = []
  for (;;) {
    const path = `/inbound?limit=100&offset=${listed.length}`
    const { status, body } = await program.call('GET', path, { token })
    assert.is(status, 200, JSON.stringify(body))
    listed.push(...body.data)
    if (!body.has_more) return listed
  }
}

/** Whoever got no answer may have been taken or not: they would send it again. */
function requireOnce({ taken, tried }: Senders, listed: readonly Listed[]) {
  const times = Map.groupBy(listed, ({ subject }) => subject)
  for (const subject of taken) assert.is(times.get(subject)?.length, 1, `${subject}, answered with 250`)
  for (const [subject, rows] of times) {
    assert.ok(tried.has(subject), `${subject} was never sent`)
    assert.is(rows.length, 1, subject)
  }
}

/** One event, one count and one reference each, in a file that is whole. */
function requireSoundness({ rows }: Scene, count: number) {
  assert.equal(rows('pragma integrity_check'), [{ integrity_check: 'ok' }])
  assert.equal(rows('pragma foreign_key_check'), [])
  const events =
    "select count(*) as count, count(distinct subject_id) as subjects from events where type = 'email.received'"
  assert.equal(rows(events), [{ count, subjects: count }])
  assert.equal(rows("select count from counters where kind = 'inbound' and period = ''"), [{ count }])
  assert.equal(rows('select sum(refs) as refs from blobs'), [{ refs: count }])
  assert.equal(rows('select sum(refs) as refs from contents'), [{ refs: count }])
}

test.run()
