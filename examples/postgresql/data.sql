-- 300 genes measured in 200 samples, and a response that depends on three of the genes.
-- A fifth of the responses are wrong.
DROP TABLE IF EXISTS expression, response, prediction;
SELECT setseed(0.42);

CREATE TABLE expression AS
SELECT 'gene' || to_char(g, 'FM000') AS gene, s AS sample,
       -- half of the values are zero; fit.sh leaves them out
       CASE WHEN random() < 0.5 THEN 0 ELSE round((random() * 10)::numeric, 3)::float8 END AS value
FROM generate_series(1, 300) AS g, generate_series(0, 199) AS s;

CREATE TABLE response AS
SELECT s AS sample,
       4 + 3 * a.value - 2 * b.value + 1.5 * c.value + random() / 10
         + CASE WHEN s % 5 = 0 THEN 60 * (random() - 0.5) ELSE 0 END AS y
FROM generate_series(0, 199) AS s
JOIN expression a ON a.sample = s AND a.gene = 'gene017'
JOIN expression b ON b.sample = s AND b.gene = 'gene123'
JOIN expression c ON c.sample = s AND c.gene = 'gene240';

CREATE TABLE prediction (sample int, y float8);
