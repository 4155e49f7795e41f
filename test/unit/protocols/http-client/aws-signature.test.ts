import { createHash, createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { awsCredential } from '../../../../src/protocols/http-client/aws-signature.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('signature of requests to Amazon')

/** Key and time of the examples in Amazon's documentation. */
const KEY = { accessKeyId: 'AKIDEXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const AT = Date.parse('2015-08-30T12:36:00Z')
const FORM = 'application/x-www-form-urlencoded'

interface Request {
  service?: string
  method?: 'GET' | 'POST'
  url: string
  headers?: Record<string, string>
  body?: string
  sessionToken?: string
}

function sign({ service = 'service', method = 'GET', url, headers = {}, body = '', sessionToken }: Request) {
  const credential = awsCredential({ ...KEY, sessionToken }, { region: 'us-east-1', service })
  return credential({ method, url: new URL(url), headers, body, at: AT })
}

const signatureOf = (request: Request) => /Signature=(\w+)$/.exec(sign(request).authorization!)![1]

test('the examples of the documentation and of its test suite have the published signatures', () => {
  const listUsers = 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'
  const headers = { 'content-type': `${FORM}; charset=utf-8` }
  assert.equal(sign({ service: 'iam', url: listUsers, headers }), {
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  })
  const url = 'https://example.amazonaws.com/'
  const known: [Request, string][] = [
    [{ url }, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      { url: `${url}?Param2=value2&Param1=value1` },
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [{ method: 'POST', url }, '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      { method: 'POST', url, headers: { 'content-type': FORM }, body: 'Param1=value1' },
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ]
  for (const [request, signature] of known)
    assert.is(signatureOf(request), signature, JSON.stringify(request))
})

test('requests to S3 name the hash of their body, and have the published signatures', () => {
  const credential = awsCredential(
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    { region: 'us-east-1', service: 's3' },
  )
  const at = Date.parse('2013-05-24T00:00:00Z')
  const bucket = 'https://examplebucket.s3.amazonaws.com'
  const get = credential({
    method: 'GET',
    url: new URL(`${bucket}/test.txt`),
    headers: { range: 'bytes=0-9' },
    body: '',
    at,
  })
  assert.is(get['x-amz-content-sha256'], createHash('sha256').digest('hex'))
  assert.match(get.authorization!, /SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, /)
  assert.match(
    get.authorization!,
    /Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/,
  )
  const put = credential({
    method: 'PUT',
    url: new URL(`${bucket}/test%24file.text`),
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    body: Buffer.from('Welcome to Amazon S3.'),
    at,
  })
  assert.match(
    put.authorization!,
    /Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/,
  )
})

test('an encoded path is encoded once more, parameters are sorted by name, and a session token is signed', () => {
  const canonical = [
    'GET',
    '/v2/email/contact-lists/All/contacts/a%252Bb%2540there.example',
    'a=2&a=3&a1=1&token=x%2By%2F%3D%27',
    'host:example.amazonaws.com:8443',
    'x-amz-date:20150830T123600Z',
    'x-amz-security-token:of a session',
    '',
    'host;x-amz-date;x-amz-security-token',
    createHash('sha256').digest('hex'),
  ].join('\n')
  const scope = '20150830/us-east-1/service/aws4_request'
  const digest = createHash('sha256').update(canonical).digest('hex')
  const text = `AWS4-HMAC-SHA256\n20150830T123600Z\n${scope}\n${digest}`
  const hmac = (key: string | Buffer, words: string) => createHmac('sha256', key).update(words).digest()
  const dateKey = hmac(`AWS4${KEY.secretKey}`, '20150830')
  const key = hmac(hmac(hmac(dateKey, 'us-east-1'), 'service'), 'aws4_request')

  const url =
    "https://example.amazonaws.com:8443/v2/email/contact-lists/All/contacts/a%2Bb%40there.example?token=x%2By%2F%3D'&a1=1&a=3&a=2"
  const sessionToken = 'of a session'
  assert.is(signatureOf({ url, sessionToken }), hmac(key, text).toString('hex'))
  assert.is(sign({ url, sessionToken })['x-amz-security-token'], sessionToken)
})

test.run()
