using System;
using System.Globalization;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PlantLabels
{
    // A measure as gardeners write it: "12", "12 cm", "1/2 m", "knee-high". Each way to
    // write one is tried, and throws if it is another. With FAULT=0 they are asked first.
    public static class Measure
    {
        static readonly bool asks = Environment.GetEnvironmentVariable("FAULT") == "0";

        public static double Read(string text)
        {
            if (asks)
                return double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double number) ? number : -1;
            try
            {
                return Plain(text);
            }
            catch (FormatException)
            {
                try
                {
                    return WithUnit(text);
                }
                catch (FormatException)
                {
                    try
                    {
                        return Fraction(text);
                    }
                    catch (FormatException)
                    {
                        return -1;
                    }
                }
            }
        }

        static double Plain(string text) => double.Parse(text, NumberStyles.Float, CultureInfo.InvariantCulture);

        static double WithUnit(string text)
        {
            int at = text.IndexOf(" cm", StringComparison.Ordinal);
            return Plain(at < 0 ? text : text.Substring(0, at));
        }

        static double Fraction(string text)
        {
            string[] parts = text.Split('/');
            if (parts.Length != 2)
                throw new FormatException("no fraction: " + text);
            return Plain(parts[0]) / Plain(parts[1]);
        }
    }

    public static class Program
    {
        static readonly string[] heights = { "knee-high", "as a man", "tall", "12 cm", "low", "creeping", "a hand", "30" };

        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services => services.AddRouting())
                .Configure(app => app.UseRouting().UseEndpoints(routes =>
                {
                    routes.MapGet("/label/{plant:int}", Label);
                    routes.MapGet("/list/{garden:int}", List);
                })))
            .Build()
            .Run();

        static Task Label(HttpContext context)
        {
            int plant = int.Parse((string)context.GetRouteValue("plant"));
            return context.Response.WriteAsync("plant " + plant + ": " + Measure.Read((10 + plant).ToString()) + " cm");
        }

        static Task List(HttpContext context)
        {
            int garden = int.Parse((string)context.GetRouteValue("garden"));
            var list = new StringBuilder();
            for (int plant = 0; plant < 2000; plant++)
                list.Append(plant).Append(' ').Append(Measure.Read(heights[(plant + garden) % heights.Length])).Append('\n');
            return context.Response.WriteAsync(list.ToString());
        }
    }
}
