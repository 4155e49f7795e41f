import * as assert from 'uvu/assert'
import {
  clearCookie,
  sessionCookie,
  sessionTokenOf,
  setCookie,
} from '../../../../../src/interfaces/api/auth/cookie.ts'
import { isSameOrigin } from '../../../../../src/interfaces/api/auth/credentials.ts'
import { suite } from '../../../../kit/suite.ts'
import { request } from '../request.ts'

const test = suite('http: the session cookie')
const cookie = sessionCookie('http://127.0.0.1:3000')

test('session cookie: it is bound to host and TLS with https', () => {
  assert.is(
    setCookie(cookie, 'phs_x', 60),
    'mailhorn_session=phs_x; Max-Age=60; Path=/; HttpOnly; SameSite=Lax',
  )
  assert.is(
    setCookie(sessionCookie('https://mail.example'), 'phs_x', 60),
    '__Host-mailhorn_session=phs_x; Max-Age=60; Path=/; HttpOnly; SameSite=Lax; Secure',
  )
  assert.is(sessionCookie('').name, 'mailhorn_session')
  assert.match(clearCookie(cookie), /^mailhorn_session=; Max-Age=0; Path=\//)
})

for (const [header, token] of [
  [undefined, undefined],
  ['', undefined],
  ['mailhorn_session', undefined],
  ['mailhorn_session=', undefined],
  ['mailhorn_session=phs_x', 'phs_x'],
  ['a=b; mailhorn_session=phs_x; c=d', 'phs_x'],
  ['a=b;mailhorn_session=phs_x', 'phs_x'],
  [' mailhorn_session = phs_x ', 'phs_x'],
  ['mailhorn_session=phs_x=y', 'phs_x=y'],
  ['mailhorn_session=one; mailhorn_session=two', 'one'],
  ['xmailhorn_session=phs_x', undefined],
  ['__Host-mailhorn_session=phs_x', undefined],
  ['MAILHORN_SESSION=phs_x', undefined],
  ['; ; =; mailhorn_session=phs_x', 'phs_x'],
] as const)
  test(`session cookie: ${JSON.stringify(header)} contains the token ${token}`, () => {
    const headers = header === undefined ? {} : { cookie: header }
    assert.is(sessionTokenOf(request({ headers }), cookie), token)
  })

const HERE = { host: 'mail.example' }
for (const [headers, same] of [
  [{}, false],
  [HERE, false],
  [{ ...HERE, origin: 'https://mail.example' }, true],
  [{ ...HERE, origin: 'http://mail.example' }, true],
  [{ ...HERE, origin: 'https://mail.example:8443' }, false],
  [{ host: 'mail.example:8443', origin: 'https://mail.example:8443' }, true],
  [{ ...HERE, origin: 'https://mail.example.evil.example' }, false],
  [{ ...HERE, origin: 'https://evil.example/mail.example' }, false],
  [{ ...HERE, origin: 'https://mail.example@evil.example' }, false],
  [{ ...HERE, origin: 'null' }, false],
  [{ origin: 'null' }, false],
  [{ origin: 'no address' }, false],
  [{ ...HERE, 'sec-fetch-site': 'same-origin' }, true],
  [{ ...HERE, 'sec-fetch-site': 'same-site', origin: 'https://mail.example' }, false],
  [{ ...HERE, 'sec-fetch-site': 'cross-site', origin: 'https://mail.example' }, false],
  [{ ...HERE, 'sec-fetch-site': 'none', origin: 'https://mail.example' }, false],
] as const)
  test(`same origin: ${JSON.stringify(headers)} is ${same ? '' : 'not '}same-origin`, () => {
    assert.is(isSameOrigin(request({ headers })), same)
  })

test.run()
