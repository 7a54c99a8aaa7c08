-- column     unit   head
-- name       text   call
-- thread     text   thread
-- calls      count  calls
-- total_ns   ms     total ms
-- mean_ns    us     mean us
-- longest_ns us     max us
SELECT name, lane_name AS thread, count(*) AS calls, sum(dur) AS total_ns,
       1.0 * sum(dur) / count(*) AS mean_ns, max(dur) AS longest_ns
FROM host_events WHERE kind = 'runtime' GROUP BY name, lane_name ORDER BY total_ns DESC, name, thread
