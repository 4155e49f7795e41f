import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readReport } from '../../../../src/protocols/bounces/read-report.ts'
import { createRandom } from '../../../kit/random.ts'
import { suite } from '../../../kit/suite.ts'

/**
 * Mails that were damaged on the way, or by somebody: by the seed, which can be set to see a failure again.
 */
const test = suite('reports: damaged mails')
const folder = join(import.meta.dirname, '../../../golden/reports')
const mails = globSync('*.eml', { cwd: folder })
  .sort()
  .map(name => readFileSync(join(folder, name)))
const seed = Number(process.env.SEED ?? 20_261_121)
const options = { correlationHeader: 'X-Mailhorn-Ref', providerOf: () => undefined }
const KINDS = new Set(
  'bounce delivery complaint feedback auto-reply challenge receipt dmarc-report tls-report mail'.split(' '),
)
const ACTIONS = new Set('failed delayed delivered relayed expanded'.split(' '))
const BAD_BITS = [
  '\0',
  '\r',
  '\n',
  '\r\n\r\n',
  '\xff',
  '=?utf-8?b?',
  '--',
  '"',
  '<',
  '>',
  '@',
  ';',
  ':',
  '=',
  '\x1b$B',
]

function damage(mail: Buffer, pick: (below: number) => number): Buffer {
  const bytes = Buffer.from(mail)
  const at = pick(bytes.length)
  switch (pick(6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + pick(400)))])
    case 2:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(BAD_BITS[pick(BAD_BITS.length)]!, 'latin1'),
        bytes.subarray(at),
      ])
    case 3:
      return Buffer.concat([bytes, mails[pick(mails.length)]!.subarray(pick(300))])
    case 4: {
      const piece = bytes.subarray(at, at + pick(200))
      return Buffer.concat([
        bytes.subarray(0, at),
        ...Array.from({ length: 50 }, () => piece),
        bytes.subarray(at),
      ])
    }
    default:
      for (let i = 0; i < 20; i++) bytes[pick(bytes.length)] = pick(256)
      return bytes
  }
}

test(`whatever is damaged, a report is read and is whole (SEED=${seed})`, () => {
  const pick = createRandom(seed).below
  for (let i = 0; i < 1_500; i++) {
    let mail: Buffer = mails[pick(mails.length)]!
    for (let times = 1 + pick(3); times > 0 && mail.length > 0; times--) mail = damage(mail, pick)
    const report = readReport(mail, options)
    assert.ok(KINDS.has(report.kind))
    for (const one of report.recipients) {
      assert.ok(ACTIONS.has(one.action))
      assert.ok(one.status === undefined || /^[245]\.\d{1,3}\.\d{1,3}$/.test(one.status), one.status)
      assert.ok(!one.isHard || one.action === 'failed')
    }
  }
})

test.run()
