/** The operator gives the installation a name that the world can look up: what to set, and what to put into DNS. */
import { useState } from 'preact/hooks'
import { Copy, TextField } from '../parts/controls.tsx'
import { delegationLines, startLines } from '../words/own-name.ts'

const EXAMPLE = { host: 'mail.example.com', address: '203.0.113.7' }

export function OwnNameGuide() {
  const [host, setHost] = useState('')
  const [address, setAddress] = useState('')
  const own = {
    host: host.trim().toLowerCase().replace(/\.$/, '') || EXAMPLE.host,
    addresses: (address.trim() || EXAMPLE.address).split(/[\s,]+/),
  }
  return (
    <div class="stack">
      <div class="halves">
        <TextField
          label="A name for this machine"
          value={host}
          placeholder={EXAMPLE.host}
          hint="Below a domain of yours, and used for nothing else."
          onValue={setHost}
        />
        <TextField
          label="Its public address"
          value={address}
          placeholder={EXAMPLE.address}
          hint="Several with commas between them, IPv6 too."
          onValue={setAddress}
        />
      </div>
      <div class="stack stack-tight">
        <h3>1. Put this into the DNS of the domain above it</h3>
        <Copy block text={delegationLines(own)} label="Copy the records" />
      </div>
      <div class="stack stack-tight">
        <h3>2. Start the service with it</h3>
        <Copy block text={`${startLines(own)} \\\nnpm start`} label="Copy the command" />
        <p class="small quiet">
          Where a service manager starts it, put the three settings into its environment. Port 53 needs a
          privilege; let ports 25 and 53 through the firewall. Ask your hoster for a reverse name of{' '}
          {own.addresses[0]} that says {own.host}.
        </p>
      </div>
      <p class="small quiet">Then come back here: what is still missing is listed below, with what to do.</p>
    </div>
  )
}
