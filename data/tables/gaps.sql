-- column     unit   head
-- cause      text   cause
-- state      text   state
-- gaps       count  gaps
-- total_ns   ms     total ms
-- share      share  %
-- longest_ns us     max us
SELECT cause, state, count(DISTINCT gap) AS gaps, sum(dur) AS total_ns,
       1.0 * sum(dur) / (SELECT sum(dur) FROM gaps) AS share, max(dur) AS longest_ns
FROM gaps GROUP BY cause, state ORDER BY total_ns DESC, cause, state
