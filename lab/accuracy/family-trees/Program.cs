using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FamilyTrees
{
    public sealed class Person
    {
        public readonly string Name;
        public readonly int Born;
        public readonly Person Parent;
        public readonly List<Person> Children = new List<Person>();

        public Person(string name, int born, Person parent)
        {
            Name = name;
            Born = born;
            Parent = parent;
        }

        // A family of five generations, 121 persons.
        public static Person Family(int number, int edition)
        {
            var root = new Person("Founder " + number + "." + edition, 1800 + number % 50, null);
            var last = new List<Person> { root };
            for (int generation = 1; generation < 5; generation++)
            {
                var next = new List<Person>();
                foreach (Person parent in last)
                    for (int n = 0; n < 3; n++)
                    {
                        var child = new Person(parent.Name + n, parent.Born + 25 + n * 2, parent);
                        parent.Children.Add(child);
                        next.Add(child);
                    }
                last = next;
            }
            return root;
        }
    }

    // All families, in memory. Parishes send new editions all the time, which a thread enters
    // in place of the old ones.
    public sealed class Archive : BackgroundService
    {
        public const int Families = 16_000;
        const int EditionsPerTenth = 150;

        readonly Person[] founders = new Person[Families];

        public Archive()
        {
            for (int family = 0; family < Families; family++)
                founders[family] = Person.Family(family, 0);
        }

        public Person Founder(int family) => Volatile.Read(ref founders[family % Families]);

        protected override async Task ExecuteAsync(CancellationToken stopping)
        {
            for (int edition = 1; ; edition++)
            {
                for (int n = 0; n < EditionsPerTenth; n++)
                {
                    int family = (edition % Families * EditionsPerTenth + n) * 37 % Families;
                    Volatile.Write(ref founders[family], Person.Family(family, edition));
                }
                await Task.Delay(100, stopping);
            }
        }
    }

    // Collections are not concurrent by the settings of the container.
    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services
                .AddSingleton<Archive>()
                .AddHostedService(all => all.GetRequiredService<Archive>()))
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .RunAsync();

        static void Routes(IEndpointRouteBuilder routes)
        {
            var archive = routes.ServiceProvider.GetRequiredService<Archive>();
            routes.MapGet("/family/{family:int}", context =>
            {
                Person founder = archive.Founder(Family(context));
                return context.Response.WriteAsync(founder.Name + ", " + founder.Born + ": " + string.Join(", ", founder.Children.Select(child => child.Name)) + "\n");
            });
            routes.MapGet("/youngest/{family:int}", context =>
            {
                Person person = archive.Founder(Family(context));
                while (person.Children.Count > 0)
                    person = person.Children[^1];
                return context.Response.WriteAsync(person.Name + ", " + person.Born + ", child of " + person.Parent.Name + "\n");
            });
        }

        static int Family(HttpContext context) => int.Parse((string)context.Request.RouteValues["family"]);
    }
}
