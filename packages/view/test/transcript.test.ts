import { expect, test } from 'vitest'
import { escapeHtml } from '../src/transcript.js'

test('in the transcript of an exported file a text is text, whatever it holds', () => {
  expect(escapeHtml(`<img src=x onerror="alert('&')">`)).toBe(
    '&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;',
  )
  expect(escapeHtml('</noscript><!--')).toBe('&lt;/noscript&gt;&lt;!--')
})

test('what cannot be seen and changes the line around it is a mark there', () => {
  expect(escapeHtml('a\u202eb\0c\x1b[31m')).toBe('a\ufffdb\ufffdc\ufffd[31m')
  expect(escapeHtml('a\tb\nc')).toBe('a\tb\nc')
})
