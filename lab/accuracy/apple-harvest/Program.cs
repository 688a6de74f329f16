using System;
using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace AppleHarvest
{
    // What each tree of an orchard bore on each day of a season.
    public sealed class Orchard
    {
        const int Trees = 3000, Days = 120;

        readonly float[] kilos = new float[Trees * Days];

        public Orchard()
        {
            var random = new Random(11);
            for (int i = 0; i < kilos.Length; i++)
                kilos[i] = (float)random.NextDouble() * 4;
        }

        public float Of(int tree)
        {
            float sum = 0;
            for (int day = 0; day < Days; day++)
                sum += kilos[tree % Trees * Days + day];
            return sum;
        }

        // The report of a season: how even the harvest was, by the distance of each tree from
        // its neighbours on each day, at all weights that are asked for.
        public double Season(int year)
        {
            double even = 0;
            for (int weight = 1; weight <= 12; weight++)
                for (int tree = 1; tree < Trees; tree++)
                    for (int day = 0; day < Days; day++)
                    {
                        double apart = kilos[tree * Days + day] - kilos[(tree - 1) * Days + day];
                        even += Math.Sqrt(weight + apart * apart) / (1 + Math.Exp(-apart * (year % 7)));
                    }
            return even;
        }
    }

    public static class Program
    {
        public static void Main()
        {
            var orchard = new Orchard();
            Host.CreateDefaultBuilder()
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .ConfigureServices(services => services.AddRouting())
                    .Configure(app => app.UseRouting().UseEndpoints(endpoints =>
                    {
                        endpoints.MapGet("/tree/{tree:int}", context => Say(context, orchard.Of(Number(context, "tree"))));
                        endpoints.MapGet("/report/{year:int}", context => Say(context, orchard.Season(Number(context, "year"))));
                    })))
                .Build()
                .Run();
        }

        static int Number(HttpContext context, string name) => int.Parse((string)context.Request.RouteValues[name], CultureInfo.InvariantCulture);

        static System.Threading.Tasks.Task Say(HttpContext context, double value) => context.Response.WriteAsync(value.ToString("F1", CultureInfo.InvariantCulture));
    }
}
