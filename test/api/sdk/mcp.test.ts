import * as assert from 'uvu/assert'
import { openMcp } from '../../kit/sdk/mcp-client.ts'
import { MCP_TOOLS } from '../../kit/sdk/mcp-tools.ts'
import { assertDocumented, outcomesText } from '../../kit/sdk/page.ts'
import { openSdkWorld } from '../../kit/sdk/world.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('the official MCP server')
const PROGRAM = 'resend-mcp/dist/index.js'

interface ToolAnswer {
  isError?: boolean
  content: { text?: string }[]
}

test('docs/sdks.md says of each tool whether it works', async t => {
  const world = await openSdkWorld(t)
  const env = { RESEND_API_KEY: world.credential, RESEND_BASE_URL: world.mailhorn.baseUrl }
  const mcp = await t.using(openMcp(PROGRAM, env))
  const { tools } = await mcp.ask<{ tools: { name: string }[] }>('tools/list', {})
  assert.equal(tools.map(({ name }) => name).sort(), Object.keys(MCP_TOOLS).sort())
  const outcomes: { name: string; refusal: string }[] = []
  for (const [name, makeArguments] of Object.entries(MCP_TOOLS)) {
    const args = await makeArguments(world)
    const { isError, content } = await mcp.ask<ToolAnswer>('tools/call', { name, arguments: args })
    const words = content.map(({ text = '' }) => text).join(' ')
    outcomes.push({ name, refusal: isError ? world.plain(words) : '' })
  }
  assertDocumented('tools of the MCP server', outcomesText('tools', outcomes))
})

test.run()
