import * as assert from 'uvu/assert'
import { readTarget } from '../../../../src/protocols/http-client/target.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('http-client/target')

function read(text: string, allowInsecureLoopback = false) {
  const target = readTarget(text, { allowInsecureLoopback })
  return 'fault' in target ? target.fault : `${target.host} ${target.port}`
}

for (const [text, target] of [
  ['https://files.example/a.pdf?b=c#d', 'files.example 443'],
  ['HTTPS://Files.EXAMPLE', 'files.example 443'],
  ['https://files.example.:443/', 'files.example 443'],
  ['https://files.example:8443/', 'files.example 8443'],
  ['https://files.example:1024/', 'files.example 1024'],
  ['https://bücher.example/', 'xn--bcher-kva.example 443'],
  ['https://8.8.8.8/', '8.8.8.8 443'],
  ['https://[2606:4700::1111]/', '2606:4700::1111 443'],
] as const)
  test(`URL target: ${text} is ${target}`, () => {
    assert.is(read(text), target)
  })

/** Spellings of addresses that URL parsing normalizes; the address is checked when it is dialled. */
for (const [text, host] of [
  ['https://2130706433/', '127.0.0.1'],
  ['https://0x7f.1/', '127.0.0.1'],
  ['https://0177.0.0.1/', '127.0.0.1'],
  ['https://127.1/', '127.0.0.1'],
  ['https://0/', '0.0.0.0'],
  ['https://①②⑦.⓪.⓪.①/', '127.0.0.1'],
  ['https://127.0.0.1./', '127.0.0.1'],
  ['https://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['https:\\\\127.0.0.1\\', '127.0.0.1'],
  ['https:127.0.0.1', '127.0.0.1'],
  ['https://%31%32%37.0.0.1/', '127.0.0.1'],
] as const)
  test(`URL target: ${text} has the host ${host}`, () => {
    assert.is(read(text), `${host} 443`)
  })

for (const [text, fault] of [
  ['', /must be an absolute URL/],
  ['files.example/a.pdf', /must be an absolute URL/],
  ['//files.example/a.pdf', /must be an absolute URL/],
  ['/etc/passwd', /must be an absolute URL/],
  ['https://', /must be an absolute URL/],
  ['https://[::1/', /must be an absolute URL/],
  ['https://files.example:99999/', /must be an absolute URL/],
  ['https://256.256.256.256/', /must be an absolute URL/],
  ['https://[fe80::1%25eth0]/', /must be an absolute URL/],
  [' https://files.example/', /must be an absolute URL/],
  ['https://files.example/a b', /must be an absolute URL/],
  ['https://files.example/\r\nX: y', /must be an absolute URL/],
  ['https://files\t.example/', /must be an absolute URL/],
  ['http://files.example/', /https/],
  ['http://127.0.0.1/', /https/],
  ['ftp://files.example/', /https/],
  ['file:///etc/passwd', /https/],
  ['data:text/plain,x', /https/],
  ['javascript:alert(1)', /https/],
  ['gopher://files.example/', /https/],
  ['https://user@files.example/', /user name/],
  ['https://user:secret@files.example/', /user name/],
  ['https://:secret@files.example/', /user name/],
  ['https://8.8.8.8@127.0.0.1/', /user name/],
  ['https://files.example:25/', /port 25/],
  ['https://files.example:22/', /port 22/],
  ['https://files.example:80/', /port 80/],
  ['https://files.example:0/', /port 0/],
  ['https://files.example:6667/', /port 6667/],
  ['https://files.example:2049/', /port 2049/],
  ['https://localhost/', /fully qualified/],
  ['https://localhost./', /fully qualified/],
  ['https://intranet/', /fully qualified/],
  [`https://files.example/${'a'.repeat(2_048)}`, /2048 characters/],
] as const)
  test(`URL target: ${JSON.stringify(text.slice(0, 40))} is refused`, () => {
    assert.match(read(text), fault)
    assert.not.match(read(text), /secret/)
  })

for (const [text, expected] of [
  ['https://localhost:14000/dir', 'localhost'],
  ['https://step-ca/acme/acme/directory', 'step-ca'],
  ['https://STEP-CA./directory', 'step-ca'],
] as const)
  test(`URL target: ${text} is accepted where one label is allowed`, () => {
    const target = readTarget(text, { allowInsecureLoopback: false, allowOneLabel: true })
    assert.is('host' in target && target.host, expected)
  })

test('URL target: a host of no label is refused where one label is allowed', () => {
  assert.ok('fault' in readTarget('https://./', { allowInsecureLoopback: false, allowOneLabel: true }))
})

for (const text of ['http://127.0.0.1:8080/hook', 'http://[::1]:8080/hook'])
  test(`URL target: ${text} is accepted with insecure loopback`, () => {
    assert.match(read(text, true), / 8080$/)
  })

for (const text of [
  'http://localhost/',
  'http://127.0.0.2/',
  'http://[::ffff:127.0.0.1]/',
  'http://files.example/',
  'http://127.0.0.1.files.example/',
  'ftp://127.0.0.1/',
])
  test(`URL target: ${text} is refused with insecure loopback`, () => {
    assert.match(read(text, true), /https/)
  })

test.run()
