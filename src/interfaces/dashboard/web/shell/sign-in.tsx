/** The sign-in page. */
import { useEffect, useState } from 'preact/hooks'
import { hasExpired, signIn } from '../api/session.ts'
import { Button, TextField } from '../components/controls.tsx'
import { useAct } from '../components/dialog.tsx'
import { Failure, Note } from '../components/feedback.tsx'
import { Horn } from '../components/icons.tsx'

export function SignIn() {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { error, isBusy, run } = useAct(() => signIn(email, password))
  useEffect(() => {
    document.title = 'Sign in · Mailhorn'
  }, [])
  return (
    <main class="signed-out">
      <div class="signed-out-word">
        <span class="brand">
          <Horn size={28} /> Mailhorn
        </span>
        <p>Self-hosted email delivery.</p>
        <Horn class="horn" />
      </div>
      <div class="signed-out-form">
        <form
          class="stack"
          onSubmit={event => {
            event.preventDefault()
            void run()
          }}
        >
          <h1>Sign in</h1>
          {hasExpired.value && (
            <Note tone="warn">
              <p>
                <b>Your session has expired.</b> Sign in again to continue. Your unsaved changes are kept in
                this browser.
              </p>
            </Note>
          )}
          <TextField
            label="Email address"
            type="email"
            name="email"
            autocomplete="username"
            required
            autofocus
            value={email}
            onValue={setEmail}
          />
          <TextField
            label="Password"
            type="password"
            name="password"
            autocomplete="current-password"
            required
            value={password}
            onValue={setPassword}
          />
          {error && <Failure error={error} />}
          <Button type="submit" kind="main" disabled={isBusy}>
            {isBusy ? 'Signing in …' : 'Sign in'}
          </Button>
          <p class="quiet small">
            The initial email address and password were printed to the console when the service first started.
            Forgot the password? Run <code>bin/mailhorn user password</code> to set a new one.
          </p>
        </form>
      </div>
    </main>
  )
}
