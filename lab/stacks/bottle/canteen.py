"""The canteens of a university on Bottle and gunicorn's threads: dishes in MariaDB by PyMySQL, cards of students over HTTP."""

import os
import threading

import pymysql
import requests
from bottle import Bottle, SimpleTemplate

host, port = os.environ["ADDR_DB"].rsplit(":", 1)
own = threading.local()
cards = requests.Session()
cards.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=32))
app = Bottle()

MENU = SimpleTemplate("""<html><body><h1>Kitchen {{kitchen}}</h1><table>
% for week in range(8):
% for dish in dishes:
<tr><td>{{week}}</td><td>{{dish['name']}}</td><td>{{'%.2f' % (dish['cents'] / 100)}}</td></tr>
% end
% end
</table></body></html>""")


def query(sql, *values):
    """Runs a statement on the connection of this thread."""
    if not hasattr(own, "connection"):
        own.connection = pymysql.connect(host=host, port=int(port), user="shop", database="shop", autocommit=True, cursorclass=pymysql.cursors.DictCursor)
    with own.connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


@app.get("/dishes/<dish:int>")
def dish(dish):
    found = query("select id, name, cents from dishes where id = %s", dish % 5000)
    return found[0]


@app.get("/menus/<kitchen:int>")
def menu(kitchen):
    """Renders the dishes of a kitchen for eight weeks."""
    return MENU.render(kitchen=kitchen, dishes=query("select name, cents from dishes where kitchen = %s", kitchen % 100))


@app.get("/cards/<card:int>")
def card(card):
    """Asks what is left on a student's card."""
    return cards.get(f"http://{os.environ['ADDR_CARDS']}/cards/{card}", timeout=20).json()


@app.post("/orders/<dish:int>")
def order(dish):
    query("insert into orders (dish_id, receipt) values (%s, %s)", dish % 5000, f"r-{dish}")
    return {"dish": dish}


@app.get("/stocks/<kitchen:int>")
def stock(kitchen):
    """Sums up what a kitchen sells, which old storage answers in 150 ms."""
    rows = query("select (select sum(cents) from dishes where kitchen = %s) as cents, sleep(0.15) as waited", kitchen % 100)
    return {"kitchen": kitchen, "cents": int(rows[0]["cents"])}
