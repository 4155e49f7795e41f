import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { boundaryOf, readMultipart } from '../../../../../src/interfaces/api/body/multipart.ts'
import { countHandledBytes } from '../../../../kit/copied-bytes.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http/multipart')

interface Part {
  name: string
  isFile: boolean
  fileName: string | null
  bytes: Buffer
}

async function* cut(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Buffer, boundary: string, size = 1_000): Promise<Part[]> {
  const parts: (Omit<Part, 'bytes'> & { pieces: Buffer[] })[] = []
  await readMultipart(cut(bytes, size), boundary, part => {
    const pieces: Buffer[] = []
    parts.push({ ...part, pieces })
    return piece => void pieces.push(Buffer.from(piece))
  })
  return parts.map(({ pieces, ...part }) => ({ ...part, bytes: Buffer.concat(pieces) }))
}

test('multipart: a form of fetch is read in pieces of any size', async () => {
  const bytes = fc.uint8Array({ maxLength: 40 }).map(array => Buffer.from(array))
  // what a boundary begins with, again and again
  const near = fc
    .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n--', 'b', '\r\n--b', ''), { maxLength: 12 })
    .map(pieces => Buffer.from(pieces.join('')))
  const part = fc.record(
    { name: fc.constantFrom('file', 'a', 'b c'), isFile: fc.boolean(), bytes: fc.oneof(bytes, near) },
    { noNullPrototype: true },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 4 }),
      fc.integer({ min: 1, max: 60 }),
      async (parts, size) => {
        const boundary = 'boundary-of-the-form'
        const body = Buffer.concat([
          ...parts.flatMap(({ name, isFile, bytes }) => [
            Buffer.from(
              `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="x"' : ''}\r\n\r\n`,
            ),
            bytes,
            Buffer.from('\r\n'),
          ]),
          Buffer.from(`--${boundary}--\r\nepilogue`),
        ])
        const named = parts.map(part => ({ ...part, fileName: part.isFile ? 'x' : null }))
        assert.equal(await read(body, boundary, size), named)
      },
    ),
  )
  const form = new FormData()
  form.append('file', new Blob(['email\nann@there.example\n']))
  form.append('column_map', '{}')
  const request = new Request('http://localhost/', { method: 'POST', body: form })
  const boundary = boundaryOf(request.headers.get('content-type')!)!
  const parts = await read(Buffer.from(await request.arrayBuffer()), boundary, 7)
  assert.equal(
    parts.map(({ name, isFile, bytes }) => [name, isFile, bytes.toString()]),
    [
      ['file', true, 'email\nann@there.example\n'],
      ['column_map', false, '{}'],
    ],
  )
})

test('multipart: an invalid form is refused with bounded memory', async () => {
  const head = 'content-disposition: form-data; name="a"\r\n\r\n'
  for (const wrong of [
    '',
    'nothing of the kind',
    '--b\r\n',
    `--b\r\n${head}cut off`,
    `--b\r\n${head}cut off\r\n--b`,
    '--b\r\ncontent-type: text/plain\r\n\r\nnameless\r\n--b--',
    `--b\r\n${'x'.repeat(20_000)}`,
    `${`--b\r\n${head}\r\n`.repeat(51)}--b--`,
  ]) {
    const told = await read(Buffer.from(wrong), 'b').then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.ok(told instanceof ApiError && told.status === 400, wrong.slice(0, 40))
  }
})

test('multipart: only multipart/form-data has a boundary', () => {
  assert.is(boundaryOf('multipart/form-data; boundary=abc'), 'abc')
  assert.is(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"'), 'a b')
  for (const type of [undefined, 'multipart/mixed; boundary=abc', 'multipart/form-data', 'text/csv'])
    assert.is(boundaryOf(type), undefined)
})

for (const size of [1, 7, 64])
  test(`multipart: a long head in pieces of ${size} bytes is searched once`, async t => {
    const head = `--b\r\nX: ${'x'.repeat(16_000)}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`
    const body = Buffer.from(`${head}value\r\n--b--`)
    const handled = countHandledBytes(t)
    const parts = await read(body, 'b', size)
    const bytes = handled()
    assert.equal(
      parts.map(part => part.bytes.toString()),
      ['value'],
    )
    assert.ok(bytes < 12 * body.length, `${bytes} bytes were handled`)
  })

test.run()
