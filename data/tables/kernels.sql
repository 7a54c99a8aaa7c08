-- column     unit   head
-- name       text   kernel
-- kind       text   kind
-- calls      count  calls
-- total_ns   ms     total ms
-- share      share  %
-- mean_ns    us     mean us
-- longest_ns us     max us
SELECT name, kind, count(*) AS calls, sum(dur) AS total_ns,
       1.0 * sum(dur) / (SELECT sum(dur) FROM kernels) AS share,
       1.0 * sum(dur) / count(*) AS mean_ns, max(dur) AS longest_ns
FROM kernels GROUP BY name, kind ORDER BY total_ns DESC, name
