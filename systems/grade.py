#!/usr/bin/env python3
"""grade.py [-s a|b] [-r RELEASE] [-v]: what `beamheap analyze` says of the systems' dumps, judged by expect.json.

right:  the first two sentences have all that is expected
vague:  they name the culprit (the first expectation) but not all, or all of it is somewhere in the findings
wrong:  a finding above info, or a first sentence of a process, of something else
missed: no finding above info, and the culprit is not in the first two sentences
A twin is silent when no finding is above info. BEAMHEAP is the program; the dumps are in ../out-a and ../out-b.
"""
import argparse, collections, json, os, re, subprocess
here = os.path.dirname(os.path.abspath(__file__))
ap = argparse.ArgumentParser()
ap.add_argument('-s', default='a'); ap.add_argument('-r', default='25'); ap.add_argument('-v', action='store_true')
a = ap.parse_args()
beamheap = os.environ.get('BEAMHEAP', os.path.join(here, '../build/quick/beamheap'))

def said(dump):
    r = subprocess.run(['nice', beamheap, 'analyze', dump, '--json'], capture_output=True, text=True)
    if r.returncode: return None
    return json.loads(r.stdout)

def has(alternatives, text): return any(re.search(x, text, re.I) for x in alternatives)

count = collections.Counter()
for e in json.load(open(os.path.join(here, 'expect.json'))):
    if e['set'] != a.s: continue
    dump = lambda which: os.path.join(here, '..', 'out-' + a.s, '%s-%s-%s.dump' % (e['name'], which, a.r))
    sick, healthy = said(dump('sick')), said(dump('healthy'))
    if not sick or not healthy: print(e['name'], 'NO ANSWER'); continue
    two = sick['summary'][:2]; first = ' '.join(two)
    loud = [f for f in sick['findings'] if f['severity'] != 'info']
    lacks = [m for m in e['must'] if not has(m, first)]
    everything = json.dumps(loud)
    if not lacks: verdict = 'right'
    elif has(e['must'][0], first) or (loud and all(has(m, everything) for m in e['must'])): verdict = 'vague'
    else: verdict = 'wrong' if loud else 'missed'
    noise = [(f['severity'], f['title']) for f in healthy['findings'] if f['severity'] != 'info']
    count[verdict] += 1; count['twin ' + ('LOUD' if noise else 'silent')] += 1
    print('%-12s %-8s %-6s twin %s' % (e['name'], e['kind'], verdict, 'silent' if not noise else 'LOUD: ' + '; '.join('%s: %s' % n for n in noise)))
    for s in two: print('    |', s)
    if lacks: print('    lacks', ' and '.join('/'.join(m) for m in lacks))
    if a.v:
        print('    why', e['why'])
        for f in sick['findings']: print('    - %s %s: %s' % (f['severity'], f['rule'], f['title']))
        for s in sick['summary'][2:]: print('    .', s)
print(dict(count))
