"""What buying against renting takes for granted where nothing is said.

Each default carries its value, its wording in both languages and where it comes from.
"""

from __future__ import annotations

from decimal import Decimal

from assistant.calculator.calculation import Assumption
from assistant.evidence import Bilingual

SERVER_SHARE = Decimal("0.25")
HOST_SHARE = Decimal("0.25")
PRICE_PER_KWH = {"USD": Decimal("0.15"), "CNY": Decimal("0.63")}
KWH_SOURCE = {
    "USD": "Pan & Wang, arXiv 2509.18101",
    "CNY": "China Briefing: industrial average 0.088 USD/kWh of 2024, at 7.189 CNY/USD (IRS yearly average 2024)",
}
SERVER = Assumption(
    name="server_price", value="25 %", source="a convention: 8-GPU H100 nodes are quoted at 300,000 to 350,000 USD",
    text=Bilingual(
        zh="服务器、网卡与机柜按显卡总价的 25% 计（惯例，请换成报价）",
        en="server, network and rack are taken as 25 % of the price of the cards (a convention: put in your quote)",
    ),
)  # fmt: skip
HOST = Assumption(
    name="host_kw", value="25 %", source="a convention, no published figure",
    text=Bilingual(
        zh="CPU、风扇等主机功率按 GPU 标称功率的 25% 计，且始终开机（惯例）",
        en="CPU, fans and the rest of the host are taken to draw 25 % of the GPUs' rated power, always on (a convention)",
    ),
)  # fmt: skip
IDLE = Assumption(
    name="idle_load", value="10 %", source="a convention, no published figure",
    text=Bilingual(
        zh="闲置时 GPU 按标称功率的 10% 计（惯例）", en="an idle GPU is taken to draw 10 % of its rated power (a convention)"
    ),
)  # fmt: skip
IDLE_LOAD = Decimal("0.1")
NOT_COUNTED = {
    "hosting_per_month": Bilingual(zh="未计机房或托管费用", en="no room or hosting cost is counted"),
    "staff_per_month": Bilingual(zh="未计运维人力", en="no staff is counted"),
    "capital_rate": Bilingual(zh="未计资金成本", en="no cost of capital is counted"),
    "resale_share": Bilingual(zh="残值按 0 计", en="the resale value is taken as 0"),
}


def electricity_price(currency: str, stated: Decimal | None) -> Decimal:
    """The stated price per kWh, or the default of that currency. Raises ValueError where there is none."""
    if stated is not None:
        return stated
    if currency not in PRICE_PER_KWH:
        raise ValueError(f"no electricity price is known in {currency}: give price_per_kwh")
    return PRICE_PER_KWH[currency]


def electricity_taken(currency: str) -> Assumption:
    """The default of `currency`, as an assumption."""
    price, source = PRICE_PER_KWH[currency], KWH_SOURCE[currency]
    return Assumption(
        name="price_per_kwh", value=f"{price} {currency}", source=source,
        text=Bilingual(zh=f"电价按每千瓦时 {price} {currency} 计", en=f"electricity is taken at {price} {currency} per kWh"),
    )  # fmt: skip


def not_counted(field: str) -> Assumption:
    """A cost that nobody stated, and that is therefore left out."""
    return Assumption(name=field, value="0", text=NOT_COUNTED[field])
