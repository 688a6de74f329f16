"""What a cooperative of orchards serves on Starlette and uvicorn: deliveries in PostgreSQL by asyncpg, prices of a market that wants a token, by httpx, and receipts by a mailer."""
import asyncio
import contextlib
import csv
import io
import os

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from deliveries import Deliveries
from mailer import Mailer
from market import Market

FAULT = os.environ.get("FAULT", "off")
deliveries = Deliveries()
market = Market()
mailer = Mailer()


@contextlib.asynccontextmanager
async def lifespan(app):
    await deliveries.open()
    await market.open()
    mailer.open()
    yield
    await market.close()
    await deliveries.close()


async def delivery(request):
    return JSONResponse(await deliveries.find(request.path_params["number"]))


async def deliveries_of(request):
    return JSONResponse(await deliveries.of_orchard(request.path_params["number"]))


async def price(request):
    return JSONResponse(await market.price(request.path_params["number"]))


async def receipt(request):
    return JSONResponse(await mailer.send(request.path_params["number"]))


async def sheet(request):
    """The deliveries of an orchard as a spreadsheet; with the fault those of a whole valley."""
    rows = await deliveries.for_sheet(request.path_params["number"], 120 if FAULT == "sheet-of-valley" else 1)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["delivery", "apple", "kilos", "cents", "note"])
    for row in rows:
        writer.writerow([row["id"], row["product_id"], row["quantity"], f"{row['total_cents'] / 100:.2f}", row["note"].strip().capitalize()])
    return Response(out.getvalue(), media_type="text/csv")


async def scale(request):
    """Answers when a lorry is on the scale, or after five seconds."""
    await asyncio.sleep(5)
    return JSONResponse({"scale": request.path_params["number"], "lorry": False})


async def best_apples(request):
    return JSONResponse(await deliveries.best_apples())


async def health(request):
    return PlainTextResponse("ok")


app = Starlette(lifespan=lifespan, routes=[
    Route("/deliveries/{number:int}", delivery),
    Route("/orchards/{number:int}/deliveries", deliveries_of),
    Route("/orchards/{number:int}/sheet", sheet),
    Route("/apples/{number:int}/price", price),
    Route("/deliveries/{number:int}/receipt", receipt, methods=["POST"]),
    Route("/scales/{number:int}/lorry", scale),
    Route("/admin/apples", best_apples),
    Route("/health", health),
])
