import * as assert from 'uvu/assert'
import type { Api } from '../../../../../src/interfaces/cli/import/api.ts'
import { resendSource } from '../../../../../src/interfaces/cli/import/providers/resend.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('cli/import/providers/resend')
const contact = (name: string) => ({ id: name, email: `${name}@there.example` })

/** @returns lists with the addresses of their contacts */
async function listsOf(inSegment: string[], all: string[]) {
  const api = {
    async get(_schema: unknown, path: string) {
      if (path.startsWith('/segments')) return { data: [{ id: 'g1', name: 'Loyal' }], has_more: false }
      return { data: (path.includes('segment_id=g1') ? inSegment : all).map(contact), has_more: false }
    },
  } as unknown as Api
  const lists: [string, string[]][] = []
  for await (const { list, contacts } of resendSource(api).contacts!())
    lists.push([list, contacts.map(({ email }) => email)])
  return lists
}

test('import from Resend: a single contact without a segment is imported, too', async () => {
  assert.equal(await listsOf(['ann'], ['ann', 'bob']), [
    ['Loyal', ['ann@there.example']],
    ['Resend contacts without a segment', ['bob@there.example']],
  ])
})

test('import from Resend: without such a contact there is no list of them', async () => {
  assert.equal(await listsOf(['ann'], ['ann']), [['Loyal', ['ann@there.example']]])
})

test.run()
