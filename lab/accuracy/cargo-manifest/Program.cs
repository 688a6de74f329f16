using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace CargoManifest
{
    public sealed class Container
    {
        public string Number { get; set; }
        public string Goods { get; set; }
        public double Tons { get; set; }
        public List<string> Seals { get; set; } = new List<string>();
    }

    public sealed class Manifest
    {
        public int Ship { get; set; }
        public int Voyage { get; set; }
        public List<Container> Containers { get; set; } = new List<Container>();
    }

    // Manifests of all ships: what is shown changes one, so that there is always something
    // new among what is old.
    public sealed class Port
    {
        public const int Ships = 900;

        const int Containers = 800;

        static readonly string[] goods = { "tea", "steel", "timber", "shoes", "paper", "tyres", "rice" };

        readonly ConcurrentDictionary<int, Manifest> manifests = new ConcurrentDictionary<int, Manifest>();

        public Port()
        {
            for (int ship = 0; ship < Ships; ship++)
                Load(ship, 0);
        }

        public Manifest Load(int ship, int voyage)
        {
            var manifest = new Manifest { Ship = ship, Voyage = voyage };
            for (int n = 0; n < Containers; n++)
                manifest.Containers.Add(new Container
                {
                    Number = "C" + (ship * Containers + n),
                    Goods = goods[(ship + n + voyage) % goods.Length],
                    Tons = 1 + (ship + n * 7 + voyage) % 28,
                    Seals = { "seal " + n + "/" + voyage, "customs " + ship },
                });
            return manifests[ship] = manifest;
        }

        public Manifest Find(int ship) => manifests[ship % Ships];
    }

    [ApiController]
    [Route("ship")]
    public sealed class ShipController : ControllerBase
    {
        readonly Port port;

        public ShipController(Port port) => this.port = port;

        [HttpGet("{ship:int}")]
        public IActionResult Get(int ship)
        {
            Manifest manifest = port.Find(ship);
            var heavy = manifest.Containers.Where(container => container.Tons > 27).Select(container => new { container.Number, container.Goods });
            return Content(JsonSerializer.Serialize(new { manifest.Ship, manifest.Voyage, Tons = manifest.Containers.Sum(container => container.Tons), Heavy = heavy }), "application/json");
        }

        [HttpPost("{ship:int}/{voyage:int}")]
        public string Post(int ship, int voyage) => "loaded " + port.Load(ship % Port.Ships, voyage).Containers.Count;
    }

    // Nothing is wrong with the program: what it is run with is.
    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(new Port());
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
