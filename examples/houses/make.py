"""Writes houses.csv and new.csv as spreadsheets save them: python3 make.py [FOLDER]"""
import datetime
import random
import sys
from pathlib import Path

STREETS = {"Am Markt": 0, "Große Allee": 60_000, 'Hof "Linde"': 25_000, "Mühlweg; Süd": -20_000}
HEATING = {"gas": 0, "oil": -15_000, "heat pump": 20_000}
COLUMNS = ["House ID", "sold on", "living area (m²)", "street", "heating", "garden", "rooms", 'said to be "quiet"',
           "distance", "price €"]


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in '";\n') else text


def house(r, number, wrong):
    area, street, heating = r.uniform(45, 220), r.choice(list(STREETS)), r.choice(list(HEATING))
    garden, day = r.random() < 0.5, datetime.date(2015, 1, 1) + datetime.timedelta(days=r.randrange(3000))
    price = (40_000 + 2_500 * area + STREETS[street] + HEATING[heating] + 35_000 * garden
             + 20 * (day - datetime.date(2015, 1, 1)).days + r.gauss(0, 5_000))
    if r.random() < wrong:                              # typing errors, another currency, a price of last year
        price = r.choice([price / 10, price * 10, r.uniform(1_000, 2_000_000)])
    gap = r.random()
    return {"House ID": f"H{number:04d}", "sold on": day.isoformat(),
            "living area (m²)": "NA" if gap < 0.03 else f"{area:.1f}", "street": street,
            "heating": "" if 0.03 < gap < 0.06 else heating, "garden": "yes" if garden else "no",
            "rooms": str(max(1, round(area / 28 + r.gauss(0, 0.7)))), 'said to be "quiet"': r.choice(["TRUE", "FALSE"]),
            "distance": f"{r.uniform(100, 9000):,.0f}", "price €": f"{price:,.0f}"}


def write(path, columns, rows):
    lines = [";".join(map(quoted, columns))] + [";".join(quoted(row[c]) for c in columns) for row in rows]
    path.write_bytes(("\ufeff" + "\r\n".join(lines) + "\r\n").encode())


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    r = random.Random(21)
    write(folder / "houses.csv", COLUMNS, [house(r, k, 0.1) for k in range(600)])
    new = [dict(house(r, 600 + k, 0), note="not in the fit; 1,5") for k in range(40)]
    new = [row for row in new if row["heating"] != "oil"]                  # a level that does not occur
    new[2]["street"] = "Neuer Weg"                                         # a level that the fit did not have
    write(folder / "new.csv", ["note", *sorted(COLUMNS, key=len)], new)
