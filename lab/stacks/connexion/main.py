"""A practice of vets on Connexion, Flask and uvicorn: animals and visits in MariaDB by Peewee, insurers over HTTP."""

import os

import a2wsgi
import connexion
import uvicorn

import practice

FAULT = os.environ.get("FAULT", "off")


def main():
    host, port = os.environ["ADDR"].split(":")
    app = connexion.FlaskApp(__name__, specification_dir=os.path.dirname(os.path.abspath(__file__)))
    app.add_api("openapi.yaml")
    app.app.teardown_request(practice.give_back)
    if FAULT != "ten-threads":  # Connexion runs Flask's handlers by ten threads, and has no option for more
        app._middleware_app.asgi_app = a2wsgi.WSGIMiddleware(app.app.wsgi_app, workers=64)
    uvicorn.run(app, host=host, port=int(port), log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
