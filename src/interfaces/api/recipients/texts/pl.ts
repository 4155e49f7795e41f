/** Polish texts of recipients' pages. */
import type { PageTexts } from './texts.ts'

export const pl: PageTexts = {
  sender: name => (name === undefined ? 'tego nadawcy' : `nadawcy ${name}`),
  emailsFrom: sender => `E-maile od ${sender}`,
  emailsAbout: topic => `E-maile na temat: ${topic}`,
  receives: (address, sender) => `Otrzymujesz e-maile od ${sender} na adres ${address}.`,
  receivesAbout: (address, sender, topic) =>
    `Otrzymujesz na adres ${address} e-maile od ${sender} na temat: ${topic}.`,
  leftAll: (address, sender) => `Adres ${address} wypisano ze wszystkich e-maili od ${sender}.`,
  leftTopic: (address, topic) => `Adres ${address} wypisano z e-maili na temat: ${topic}.`,
  saved: 'Ustawienia zostały zapisane.',
  subscribedAgain: 'Subskrypcja została przywrócona.',
  leaveTopic: topic => `Wypisz mnie z tematu: ${topic}`,
  leaveAll: 'Wypisz mnie ze wszystkich e-maili',
  subscribeAgain: 'Zapisz mnie ponownie',
  save: 'Zapisz',
  chooseTopics: 'Lub wybierz tematy',
  selectToReturn: 'Zaznacz tematy, które chcesz otrzymywać. Bez zaznaczenia adres pozostanie wypisany.',
  from: 'Od',
  to: 'Do',
  cc: 'DW',
  date: 'Data',
  email: 'Treść e-maila',
  brokenLink: 'Ten link nie działa',
  brokenLinkHint: 'Mógł zostać ucięty lub zmieniony. Otwórz go ponownie z e-maila.',
  emailGone: 'Ten e-mail nie jest już dostępny',
  emailGoneHint:
    'E-maile można czytać w przeglądarce przez ograniczony czas. Być może nadal jest w Twojej skrzynce.',
}
