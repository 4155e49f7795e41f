import { verify } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import * as assert from 'uvu/assert'
import { bodyHash } from '../../../../src/protocols/dkim/body-hash.ts'
import { dkimRecord } from '../../../../src/protocols/dkim/keys.ts'
import {
  type Signature,
  signatureField,
  signatureHolds,
  signedBefore,
  signMessage,
} from '../../../../src/protocols/dkim/signature.ts'
import { composeHead } from '../../../../src/protocols/mime/compose-head.ts'
import type { HeaderField } from '../../../../src/protocols/smtp/header-field.ts'
import { suite } from '../../../kit/suite.ts'
import { headSource, mailbox } from '../mime/messages.ts'
import { createTestKey, SIGNED_AT, signed, type TestKey } from './signed.ts'

const test = suite('dkim/signature')
const rsa = await createTestKey('rsa-sha256')
const ed25519 = await createTestKey('ed25519-sha256')
const body = Buffer.from('Hello Bob\r\n')
const fields: HeaderField[] = [
  ...composeHead(headSource({ headers: [['List-Unsubscribe', '<https://here.test/u>']] })),
  { name: 'MIME-Version', value: '1.0' },
]

async function signatureBy(key: TestKey, signedAt = SIGNED_AT): Promise<Signature> {
  const [signature] = await signMessage(fields, bodyHash(body), [key], signedAt)
  return signature!
}

test('DKIM signature: several keys sign in order, and none signs the signature of another', async () => {
  const both = await signMessage(fields, bodyHash(body), [ed25519, rsa], SIGNED_AT)
  assert.equal(
    both.map(({ key, field }) => [key, field]),
    [
      [ed25519, (await signatureBy(ed25519)).field],
      [rsa, (await signatureBy(rsa)).field],
    ],
  )
})

for (const key of [rsa, ed25519])
  test(`DKIM signature: ${key.algorithm} verifies over the signed message only`, async () => {
    const { base64 } = await signatureBy(key)
    const identity = { ...key, publicKey: /p=(.+)$/.exec(key.record)![1]! }
    const holds = (of: readonly HeaderField[], text: Buffer, at: number, signature: string) =>
      signatureHolds(of, bodyHash(text), identity, at, signature)
    assert.ok(holds(fields, body, SIGNED_AT, base64))
    assert.not(holds(fields.slice(1), body, SIGNED_AT, base64))
    assert.not(holds(fields, Buffer.from('Hello Eve\r\n'), SIGNED_AT, base64))
    assert.not(holds(fields, body, SIGNED_AT + 1_000, base64))
    assert.not(holds(fields, body, SIGNED_AT, altered(base64)))
    assert.not(holds(fields, body, SIGNED_AT, shortened(base64)))
  })

for (const key of [rsa, ed25519])
  test(`DKIM signature: a stored ${key.algorithm} signature is reused if it verifies or its digest is known`, async () => {
    const { field, base64, digest } = await signatureBy(key)
    const again = (of: readonly HeaderField[], text: Buffer, known: object) =>
      signedBefore(of, bodyHash(text), [key], SIGNED_AT, [{ base64, ...known }])
    for (const known of [{}, { digest: digest() }]) {
      assert.equal(again(fields, body, known), [field])
      assert.is(again(fields.slice(1), body, known), undefined)
      assert.is(again(fields, Buffer.from('Hello Eve\r\n'), known), undefined)
    }
    assert.is(again(fields, body, { base64: altered(base64) }), undefined)
    assert.is(again(fields, body, { base64: shortened(base64) }), undefined)
  })

test('DKIM signature: the tags are in order, in lines of at most 76 octets', async () => {
  const { field } = await signatureBy(rsa)
  assert.is(field.name, 'DKIM-Signature')
  const lines = `${field.name}: ${field.value}`.split('\r\n')
  assert.equal(lines.slice(0, -5), [
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=here.test; s=r1;',
    ' t=1709208001;',
    ' h=from:from:reply-to:to:to:cc:subject:subject:date:date:message-id:',
    ' message-id:mime-version:mime-version:content-type:',
    ' content-transfer-encoding:in-reply-to:references:list-unsubscribe;',
    ` bh=${bodyHash(body)};`,
  ])
  assert.match(lines.at(-5)!, /^ b=\S{73}$/)
  for (const line of lines) assert.ok(line.length <= 76, line)
})

for (const key of [rsa, ed25519]) {
  test(`DKIM signature: ${key.algorithm} field is rebuilt from the bare signature without the key`, async () => {
    const { field, base64 } = await signatureBy(key)
    const { domain, selector, algorithm } = key
    assert.equal(
      signatureField(fields, bodyHash(body), { domain, selector, algorithm }, SIGNED_AT, base64),
      field,
    )
    assert.is(Buffer.from(base64, 'base64').length, key === rsa ? 256 : 64)
    assert.is(base64Of(field), base64)
  })

  test(`DKIM signature: ${key.algorithm} is deterministic`, async () => {
    const twice = [await signatureBy(key, SIGNED_AT - 999), await signatureBy(key, SIGNED_AT)]
    assert.equal(twice[0]!.field, twice[1]!.field)
  })

  for (const [what, change] of Object.entries(changes()))
    test(`${key.algorithm}: ${what} breaks the signature`, async () => {
      const message = (await signed({ fields, body }, [key])).toString('latin1')
      assert.is(await verdict(message, key), 'pass')
      assert.is.not(change(message), message)
      assert.is.not(await verdict(change(message), key), 'pass')
    })

  for (const [what, change] of Object.entries(relays()))
    test(`${key.algorithm}: ${what} leaves it whole`, async () => {
      const message = (await signed({ fields, body }, [key])).toString('latin1')
      assert.is.not(change(message), message)
      assert.is(await verdict(change(message), key), 'pass')
    })
}

for (const added of ['Sender', 'List-Unsubscribe', 'List-Unsubscribe-Post'])
  test(`DKIM signature: a list that adds ${added} above or below leaves a letter without it whole`, async () => {
    const letter = fields.filter(({ name }) => !name.startsWith('List-'))
    const message = (await signed({ fields: letter, body }, [rsa, ed25519])).toString('latin1')
    for (const place of ['DKIM-Signature:', 'MIME-Version:'])
      assert.is(await verdict(message.replace(place, `${added}: x\r\n${place}`), rsa, ed25519), 'pass pass')
  })

test('DKIM signature: a changed Sender and a removed List-Unsubscribe-Post break it', async () => {
  const source = [
    ...fields,
    { name: 'Sender', value: 'a@here.test' },
    { name: 'List-Unsubscribe-Post', value: 'x' },
  ]
  const message = (await signed({ fields: source, body }, [rsa])).toString('latin1')
  assert.is(await verdict(message, rsa), 'pass')
  assert.is.not(await verdict(message.replace('Sender: a@', 'Sender: b@'), rsa), 'pass')
  assert.is.not(await verdict(message.replace('List-Unsubscribe-Post: x\r\n', ''), rsa), 'pass')
})

test('DKIM signature: it does not verify with another key', async () => {
  const stranger = await createTestKey('rsa-sha256')
  const message = (await signed({ fields, body }, [stranger])).toString('latin1')
  assert.is.not(await verdict(message, rsa), 'pass')
})

test('DKIM signature: it does not verify with a revoked key', async () => {
  const message = (await signed({ fields, body }, [rsa])).toString('latin1')
  assert.is.not(await verdict(message, { ...rsa, record: dkimRecord('rsa-sha256', '') }), 'pass')
})

test('DKIM signature: two domains can sign one message', async () => {
  const provider = await createTestKey('rsa-sha256', 'mail.provider.test')
  const message = (await signed({ fields, body }, [rsa, provider])).toString('latin1')
  assert.is(await verdict(message, rsa, provider), 'pass pass')
})

test('DKIM signature: long domains and selectors are folded', async () => {
  const domain = `${'a'.repeat(60)}.${'b'.repeat(60)}.test`
  const long = { ...(await createTestKey('ed25519-sha256', domain)), selector: 'c'.repeat(63) }
  long.recordName = `${long.selector}._domainkey.${domain}`
  const message = (await signed({ fields, body }, [long])).toString('latin1')
  assert.is(await verdict(message, long), 'pass')
  for (const line of message.split('\r\n')) assert.ok(line.length <= 130)
})

test('DKIM signature: a non-ASCII address is signed as UTF-8', async () => {
  const head = composeHead(headSource({ from: mailbox('jörg@here.test', 'Jörg') }))
  const message = (await signed({ fields: head, body }, [rsa])).toString('latin1')
  assert.is(await verdict(message, rsa), 'pass')
})

test('DKIM signature: the signed octets are those of RFC 6376 §3.7', async () => {
  const from = [{ name: 'From', value: 'a@b.test' }]
  const [signature] = await signMessage(from, 'aGFzaA==', [rsa], 1000)
  const { field, base64 } = signature!
  const unsigned = field.value.slice(0, field.value.indexOf(' b=') + 3).replace(/\r\n /g, ' ')
  const input = Buffer.from(`from:a@b.test\r\ndkim-signature:${unsigned}`)
  assert.match(unsigned, /^v=1; a=rsa-sha256; .* t=1; h=from:from:reply-to:.*; bh=aGFzaA==; b=$/)
  assert.ok(verify('sha256', input, rsa.privateKey, Buffer.from(base64, 'base64')))
})

/** Changes that an attacker or a careless relay makes. */
function changes(): Record<string, (message: string) => string> {
  return {
    'a changed body': text => text.replace('Hello Bob', 'Hello Eve'),
    'an added line': text => `${text}more\r\n`,
    'a changed subject': text => text.replace('Subject: Hello', 'Subject: Goodbye'),
    'a second From': text => text.replace('From:', 'From: eve@evil.test\r\nFrom:'),
    'a second Subject below': text => text.replace('Message-ID:', 'Subject: other\r\nMessage-ID:'),
    'an added Cc': text => text.replace('To:', 'Cc: eve@evil.test\r\nTo:'),
    'an added Reply-To': text => text.replace('To:', 'Reply-To: eve@evil.test\r\nTo:'),
    'an added Content-Type': text => text.replace('MIME-', 'Content-Type: text/html\r\nMIME-'),
    'a changed unsubscription link': text => text.replace('https://here.test', 'https://evil.test'),
    'a removed Date': text => text.replace(/Date: .*\r\n/, ''),
    'a changed selector': text => text.replace(/( s=.)1;/, (_, start) => `${start}2;`),
  }
}

/** Changes that correct relays make. */
function relays(): Record<string, (message: string) => string> {
  return {
    'a Received field on top': text => `Received: from a by b; Sat, 21 Nov 2026 13:00:00 +0000\r\n${text}`,
    'an X- field': text => text.replace('Subject:', 'X-Spam: no\r\nSubject:'),
    'other blanks in a field': text => text.replace('Subject: Hello', 'Subject:   Hello \t'),
    'another case of a name': text => text.replace('Subject:', 'SUBJECT:'),
    'a refolded field': text => text.replace('Ann <', 'Ann\r\n\t <'),
    'empty lines at the end': text => `${text}\r\n\r\n`,
    'a mailing list with its Sender': text => `Sender: talk-bounces@list.test\r\n${text}`,
    'a mailing list with fields of its own': text =>
      `List-Id: <talk.list.test>\r\nList-Post: <mailto:talk@list.test>\r\nPrecedence: list\r\n${text}`,
    'a second way to unsubscribe, on top': text => `List-Unsubscribe: <https://list.test/u>\r\n${text}`,
    'a one-click unsubscription': text =>
      text.replace('List-', 'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nList-'),
    'blanks at the end of a line': text => text.replace('Bob\r\n', 'Bob  \r\n'),
  }
}

async function verdict(message: string, ...keys: TestKey[]): Promise<string> {
  const resolver = async (name: string) =>
    keys.filter(key => key.recordName === name).map(key => [key.record])
  const { results } = await dkimVerify(Buffer.from(message, 'latin1'), { resolver })
  return results.map(({ status }) => status.result).join(' ')
}

function altered(base64: string): string {
  const bytes = Buffer.from(base64, 'base64')
  return Buffer.from(bytes.map(byte => byte ^ 1)).toString('base64')
}

function shortened(base64: string): string {
  return Buffer.from(base64, 'base64').subarray(1).toString('base64')
}

function base64Of(field: HeaderField): string {
  return field.value.slice(field.value.indexOf(' b=') + 3).replace(/\s/g, '')
}

test.run()
