/**
 * Received mail before its judge: a scripted DNS world, messages in a line, and signatures with any tags
 * whatever.
 */
import { hash, sign } from 'node:crypto'
import { type Clock, systemClock } from '../../../../../src/lib/clock.ts'
import { createLog } from '../../../../../src/lib/log.ts'
import type { BudgetedResolver } from '../../../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import type { FilterSettings } from '../../../../../src/pipeline/inbound/verdicts/filters.ts'
import { createJudge, type Judge } from '../../../../../src/pipeline/inbound/verdicts/judge.ts'
import type { Envelope, Mail } from '../../../../../src/pipeline/inbound/verdicts/mail.ts'
import { bodyHash } from '../../../../../src/protocols/dkim/body-hash.ts'
import { relaxedField } from '../../../../../src/protocols/dkim/signed-fields.ts'
import { createResolver } from '../../../../../src/protocols/dns/resolver.ts'
import type { TestContext } from '../../../../kit/suite.ts'
import { type ScriptedZone, startZone } from '../../../../kit/zone.ts'
import { createTestKey, type TestKey } from '../../../protocols/dkim/signed.ts'

export const HOST = 'mail.mailhorn.test'
export const CLIENT = '192.0.2.1'
export const RECEIVED_AT = Date.UTC(2026, 10, 21, 13, 0, 0)
export const NO_FILTERS: FilterSettings = { rspamdUrl: null, spamd: null, clamd: null }

export const rsa = await createTestKey('rsa-sha256')
export const ed25519 = await createTestKey('ed25519-sha256')

/** A world in which all is well for mail from here.test. */
export const GOOD_ZONE = `
  here.test         TXT "v=spf1 ip4:${CLIENT} -all"
  _dmarc.here.test  TXT "v=DMARC1; p=reject"
  ${keyLine(rsa)}
  ${keyLine(ed25519)}
`

export function keyLine({ recordName, record }: Pick<TestKey, 'recordName' | 'record'>): string {
  return `${recordName} TXT "${record}"`
}

export interface Scene {
  zone: ScriptedZone
  judge: Judge
}

interface SceneOptions {
  clock?: Clock
  filters?: Partial<FilterSettings>
}

export async function startScene(
  t: TestContext,
  zoneText: string,
  options: SceneOptions = {},
): Promise<Scene> {
  const { clock = systemClock } = options
  const zone = await t.using(startZone(zoneText))
  const timeoutMs = zoneText.includes('TIMEOUT') ? 300 : 10_000 // for any machine, unless a server is silent
  const resolver = await t.using(
    createResolver({ servers: [zone.server], clock, timeoutMs, tries: 1, totalMs: 10 * timeoutMs }),
  )
  return { zone, judge: judgeBy(resolver, options) }
}

export function judgeBy(
  resolver: BudgetedResolver,
  { clock = systemClock, filters }: SceneOptions = {},
): Judge {
  const log = createLog('fatal')
  return createJudge({ mailHost: HOST, resolver, filters: { ...NO_FILTERS, ...filters }, clock, log })
}

export function envelope(changes: Partial<Envelope> = {}): Envelope {
  return {
    clientIp: CLIENT,
    helo: 'out.here.test',
    mailFrom: 'ann@here.test',
    recipients: ['bob@there.test'],
    receivedAt: RECEIVED_AT,
    ...changes,
  }
}

/** Returns a mail that is read in smaller chunks than a file reader delivers. */
export function mailOf(bytes: Uint8Array | string, pieceBytes = 1_000): Mail {
  const whole = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
  return {
    sizeBytes: whole.length,
    async *read() {
      for (let at = 0; at < whole.length; at += pieceBytes) yield whole.subarray(at, at + pieceBytes)
    },
  }
}

export interface Letter {
  fields: [name: string, value: string][]
  body: string
}

export function letter(changes: Partial<Letter> = {}): Letter {
  return {
    fields: [
      ['From', 'Ann <ann@here.test>'],
      ['To', 'bob@there.test'],
      ['Subject', 'Hello'],
      ['Date', 'Sat, 21 Nov 2026 12:59:00 +0000'],
      ['Message-ID', '<1@here.test>'],
    ],
    body: 'Hello Bob\r\n',
    ...changes,
  }
}

export function textOf({ fields, body }: Letter): string {
  return `${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

interface Signing {
  key?: TestKey
  /** Tags that replace or extend those of the signature; undefined omits a tag. */
  tags?: Record<string, string | undefined>
  /** Hashed part of the body; the whole body when absent. */
  hashed?: string
}

/** The letter with a signature on top: relaxed/relaxed over From, To, Subject and Date. */
export function withSignature(of: Letter, { key = rsa, tags = {}, hashed = of.body }: Signing = {}): Letter {
  const signedNames = ['From', 'To', 'Subject', 'Date']
  const all: Record<string, string | undefined> = {
    v: '1',
    a: key.algorithm,
    c: 'relaxed/relaxed',
    d: key.domain,
    s: key.selector,
    h: signedNames.join(':'),
    bh: bodyHash(Buffer.from(hashed)),
    ...tags,
  }
  const listed = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  )
  const unsigned = `${listed.join('; ')}; b=`
  const canonical = signedNames.flatMap(name => {
    const [, value] = of.fields.findLast(([other]) => other === name) ?? []
    return value === undefined ? [] : `${relaxedField(name.toLowerCase(), value)}\r\n`
  })
  const input = Buffer.from(canonical.join('') + relaxedField('dkim-signature', unsigned))
  const bytes =
    key.algorithm === 'rsa-sha256'
      ? sign('sha256', input, key.privateKey)
      : sign(null, hash('sha256', input, 'buffer'), key.privateKey)
  return { ...of, fields: [['DKIM-Signature', unsigned + bytes.toString('base64')], ...of.fields] }
}
