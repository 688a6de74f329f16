using System;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace CensusExport
{
    // Persons of a census. The export is paced: it gives a page of rows, then waits, so that
    // it disturbs nobody and readers can follow.
    public static class Program
    {
        const int Rows = 300;

        static readonly TimeSpan pace = TimeSpan.FromMilliseconds(150);

        public static void Main() => new WebHostBuilder()
            .UseKestrel()
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .UseShutdownTimeout(TimeSpan.FromSeconds(1))
            .Configure(app => app
                .Map("/export", at => at.Run(Export))
                .Map("/person", at => at.Run(Person)))
            .Build()
            .Run();

        static Task Person(HttpContext context)
        {
            int number = int.Parse(context.Request.Path.Value.Trim('/'));
            return context.Response.WriteAsync(Row(number));
        }

        static async Task Export(HttpContext context)
        {
            string region = context.Request.Path.Value.Trim('/');
            int pages = 20 + region.Length % 4 * 9;
            context.Response.ContentType = "text/csv";
            for (int page = 0; page < pages && !context.RequestAborted.IsCancellationRequested; page++)
            {
                var rows = new StringBuilder();
                for (int n = 0; n < Rows; n++)
                    rows.Append(Row(page * Rows + n));
                await context.Response.WriteAsync(rows.ToString());
                await context.Response.Body.FlushAsync();
                await Task.Delay(pace, context.RequestAborted);
            }
        }

        static string Row(int number) => number + ";household " + number / 3 + ";born " + (1921 + number * 7 % 99) + "\n";
    }
}
