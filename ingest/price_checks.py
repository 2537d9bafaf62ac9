"""The SQL that reads a million price cells at once, and the sentence for each reason to reject a line.

Tables it expects: file (text cells and line), gpu_cells, provider_cells, date_cells, model_cells, period_cells (each
distinct value and what it means), rates (units per USD), bounds (plausible USD per GPU-hour). It makes `checked`.
"""

from __future__ import annotations

FLOOR_USD, CEILING_USD = 0.02, 60.0  # per GPU-hour, where our own rows say nothing closer
SLACK = 3  # times cheaper or dearer than any row we have of that GPU

_CURRENCY = """CASE
    WHEN regexp_matches({cell}, '(?i)us\\$|usd|美元|美金') THEN 'USD'
    WHEN regexp_matches({cell}, '(?i)hk\\$|hkd|港[元币]') THEN 'HKD'
    WHEN regexp_matches({cell}, '(?i)jpy|日元|円') THEN 'JPY'
    WHEN regexp_matches({cell}, '(?i)eur|€|欧元') THEN 'EUR'
    WHEN regexp_matches({cell}, '(?i)gbp|£|英镑') THEN 'GBP'
    WHEN regexp_matches({cell}, '(?i)¥|cny|rmb|元|人民币') THEN 'CNY'
    WHEN contains({cell}, '$') THEN 'USD' ELSE {other} END"""
_HALF = "translate(trim({cell}), '０１２３４５６７８９．，－＋￥＄／　', '0123456789.,-+¥$/ ')"
_WORDS = "(?i)us\\$|hk\\$|usd|cny|rmb|hkd|jpy|eur|gbp|美元|美金|港[元币]|日元|円|欧元|英镑|人民币|元|[¥$€£]"
_UNIT = "(?i)\\s*(?:/|每|per)\\s*(hour|hr|h|小时|时|month|mo|月)\\s*$"
_NUMBER = "[+-]?(\\d{1,3}(,\\d{3})+(\\.\\d+)?|\\d+\\.?\\d*([eE][+-]?\\d{1,2})?|\\.\\d+)"
_WHOLE = "regexp_replace({cell}, '\\.0+$', '')"

CHECKED = f"""CREATE TABLE checked AS
WITH halved AS (
    SELECT * REPLACE ({_HALF.format(cell="price")} AS price, {_HALF.format(cell="gpu_count")} AS gpu_count,
        {_HALF.format(cell="gpu_fraction")} AS gpu_fraction, {_HALF.format(cell="cpu_cores")} AS cpu_cores,
        {_HALF.format(cell="host_memory_gib")} AS host_memory_gib) FROM file
), money AS (
    SELECT *, {_CURRENCY.format(cell="price", other="''")} AS currency_in_price,
        {_CURRENCY.format(cell="currency", other="upper(trim(currency))")} AS currency_in_column,
        trim(regexp_replace(price, '{_WORDS}', '', 'g')) AS bare_price
    FROM halved
), parts AS (
    SELECT *, trim(regexp_replace(bare_price, '{_UNIT}', '')) AS figure,
        regexp_extract(bare_price, '{_UNIT}', 1) IN ('month', 'mo', '月') AS by_month,
        coalesce(nullif({_WHOLE.format(cell="gpu_count")}, ''), '1') AS cards,
        coalesce(nullif(gpu_fraction, ''), '1') AS share,
        coalesce(nullif(currency_in_column, ''), nullif(currency_in_price, ''), $currency) AS money
    FROM money
), linked AS (
    SELECT parts.line, parts.gpu AS gpu_written, parts.provider AS provider_written, parts.price AS price_written,
        parts.as_of AS as_of_written, parts.pricing_model AS model_written, parts.per AS per_written,
        parts.gpu_memory_gb AS memory_written, parts.gpu_form AS form_written, cards AS cards_written,
        g.family AS gpu, g.form AS gpu_form, g.memory AS gpu_memory_gb, g.problem AS gpu_problem,
        v.key AS provider, d.day AS as_of, d.problem AS date_problem, m.key AS pricing_model,
        CASE WHEN by_month AND p.key = 'instance-hour' THEN 'instance-month' ELSE p.key END AS period,
        CASE WHEN regexp_full_match(figure, '{_NUMBER}') AND length(figure) <= 24
            THEN ltrim(replace(figure, ',', ''), '+') END AS price,
        CASE WHEN regexp_full_match(cards, '\\d{{1,6}}') THEN cards::BIGINT END AS cards, CASE WHEN regexp_full_match(share, '1|1?\\.0+|0?\\.\\d{{1,6}}|1\\.0+')
            THEN try_cast(share AS DECIMAL(9, 6)) END AS share, share AS share_written,
        trim(instance) AS instance, trim(region) AS region,
        CASE WHEN try_cast({_WHOLE.format(cell="cpu_cores")} AS INTEGER) > 0
            THEN try_cast({_WHOLE.format(cell="cpu_cores")} AS INTEGER)::VARCHAR ELSE '' END AS cpu_cores,
        CASE WHEN cpu_unit IN ('core', 'vCPU') THEN cpu_unit WHEN cpu_cores = '' THEN '' ELSE 'vCPU' END AS cpu_unit,
        CASE WHEN regexp_full_match(host_memory_gib, '\\d{{1,7}}(\\.\\d{{1,6}})?')
            THEN {_WHOLE.format(cell="host_memory_gib")} ELSE '' END AS host_memory_gib,
        money AS currency, currency_in_price, currency_in_column, trim(channel) AS channel, trim(flags) AS flags
    FROM parts
    JOIN gpu_cells AS g ON g.a = parts.gpu AND g.b = parts.gpu_form AND g.c = parts.gpu_memory_gb AND g.d = parts.share
    JOIN provider_cells AS v ON v.a = parts.provider
    JOIN date_cells AS d ON d.a = parts.as_of
    JOIN model_cells AS m ON m.a = parts.pricing_model AND m.b = parts.per
    JOIN period_cells AS p ON p.a = parts.per
), priced AS (
    SELECT * REPLACE (
            CASE WHEN period = 'gpu-hour' AND cards BETWEEN 2 AND 1024 THEN
                regexp_replace(regexp_replace((try_cast(price AS DECIMAL(24, 10)) * cards)::VARCHAR, '(\\.\\d*?)0+$', '\\1'),
                    '\\.$', '') ELSE price END AS price,
            CASE WHEN pricing_model = '' AND model_written = '' THEN 'on-demand' ELSE pricing_model END AS pricing_model),
        CASE WHEN period = 'gpu-hour' THEN 'instance-hour' ELSE period END AS per
    FROM linked
), valued AS (
    SELECT *, try_cast(price AS DOUBLE) / CASE per WHEN 'instance-month' THEN 730 ELSE 1 END / (cards * share::DOUBLE)
        AS per_gpu_hour FROM priced
)
SELECT valued.*, per_gpu_hour / rates.units AS usd, coalesce(bounds.low, {FLOOR_USD}) AS low_usd,
    coalesce(bounds.high, {CEILING_USD}) AS high_usd,
    CASE
        WHEN provider = '' THEN 'no-provider'
        WHEN gpu_problem <> '' THEN gpu_problem
        WHEN cards IS NULL OR cards NOT BETWEEN 1 AND 1024 THEN 'bad-count'
        WHEN share IS NULL OR share <= 0 OR share > 1 OR (share < 1 AND cards > 1) THEN 'bad-fraction'
        WHEN price IS NULL THEN 'bad-price'
        WHEN try_cast(price AS DOUBLE) <= 0 THEN 'not-positive'
        WHEN period = '' THEN 'bad-period'
        WHEN pricing_model = '' THEN 'bad-model'
        WHEN currency_in_column <> '' AND currency_in_price <> '' AND currency_in_column <> currency_in_price
            AND NOT (currency_in_column = 'JPY' AND currency_in_price = 'CNY')
            AND NOT (currency_in_price = 'USD' AND currency_in_column LIKE '%D') THEN 'two-currencies'
        WHEN currency = '' THEN 'no-currency'
        WHEN rates.units IS NULL THEN 'unknown-currency'
        WHEN date_problem <> '' THEN date_problem
        WHEN NOT $unusual AND NOT per_gpu_hour / rates.units BETWEEN low_usd AND high_usd THEN 'implausible'
        ELSE ''
    END AS problem
FROM valued
LEFT JOIN rates ON rates.code = valued.currency
LEFT JOIN bounds ON bounds.card = valued.gpu"""

# What a sentence quotes of the line.
QUOTED = """CASE problem WHEN 'no-provider' THEN provider_written WHEN 'unknown-gpu' THEN gpu_written
    WHEN 'unknown-form' THEN concat_ws(' ', gpu_written, form_written)
    WHEN 'other-memory' THEN gpu_written || ' ' || memory_written WHEN 'bad-count' THEN cards_written
    WHEN 'bad-fraction' THEN share_written WHEN 'bad-period' THEN per_written WHEN 'bad-model' THEN model_written
    WHEN 'bad-date' THEN as_of_written WHEN 'future-date' THEN as_of_written
    WHEN 'two-currencies' THEN price_written || ' / ' || currency_in_column WHEN 'unknown-currency' THEN currency
    WHEN 'implausible' THEN price_written || ' ' || currency || ' / ' || cards || ' x ' || gpu || ' = '
        || round(usd, 4) || ' USD/GPU-h; ' || round(low_usd, 4) || '-' || round(high_usd, 2)
    ELSE price_written END"""

REASONS: dict[str, tuple[str, str]] = {
    "no-provider": ("没有可用的云厂商名", "has no usable provider name"),
    "unknown-gpu": ("不认识这个 GPU，没有硬套成别的", "is no GPU we know; it was not forced to be another"),
    "unknown-form": ("没有这种形态的 GPU", "is no form of a GPU we know"),
    "other-memory": ("这个 GPU 没有这么大的显存", "is no memory size of that GPU"),
    "bad-count": ("卡数应是 1–1024 的整数（不足一张写在 gpu_fraction）", "the card count must be 1 to 1024 (a part of a card goes into gpu_fraction)"),
    "bad-fraction": ("卡份额应大于 0、不超过 1，且小于 1 时卡数为 1", "the fraction must be above 0 and at most 1, and below 1 only for one card"),
    "bad-price": ("价格不是数字（千分位写作 1,234.5）", "the price is no number (thousands as 1,234.5)"),
    "not-positive": ("价格必须大于 0", "the price must be above 0"),
    "bad-period": ("计价单位应是小时、月或每卡每小时", "the unit must be hour, month or GPU-hour"),
    "bad-model": ("不认识这种计费方式", "is no pricing model we know"),
    "two-currencies": ("价格里的币种与币种列不同", "the price cell and the currency column disagree"),
    "no-currency": ("没有写明币种（加币种列、¥/$ 或 --currency）", "states no currency (add a column, ¥/$ or --currency)"),
    "unknown-currency": ("没有这个币种的汇率，无法核对价格", "there is no rate of this currency to check the price by"),
    "bad-date": ("日期应写作 2026-05-24、2024-07 或 2023-Q3", "the date must be 2026-05-24, 2024-07 or 2023-Q3"),
    "future-date": ("日期在未来", "the date is in the future"),
    "implausible": (
        "每卡每小时价格不合理，可能是整机价与单卡价混淆、卡数或币种不对（确实如此请加 --allow-unusual）",
        "is no plausible price per GPU-hour: perhaps the price of one card and of the instance were confused, or count or currency are wrong (--allow-unusual takes it)",
    ),
}  # fmt: skip
