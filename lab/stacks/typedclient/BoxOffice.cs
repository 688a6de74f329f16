using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Theatre
{
    // What the box office asks for: the seats of an evening, the agency's offer for a seat, the statement of an evening.
    public static class BoxOffice
    {
        public static void Map(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/evenings/{id:int}", ShowEvening);
            routes.MapGet("/offers/{id:int}", ShowOffer);
            routes.MapGet("/statements/{id:int}", ShowStatement);
        }

        private static Task ShowEvening(HttpContext context)
        {
            var house = context.RequestServices.GetRequiredService<House>();
            context.Response.ContentType = "application/json";
            return JsonSerializer.SerializeAsync(context.Response.Body, house.Evening(Id(context)).Take(30));
        }

        private static async Task ShowOffer(HttpContext context)
        {
            var agency = context.RequestServices.GetRequiredService<Agency>();
            context.Response.ContentType = "application/json";
            await context.Response.WriteAsync(await agency.Offer(Id(context)));
        }

        private static Task ShowStatement(HttpContext context)
        {
            var ledger = context.RequestServices.GetRequiredService<Ledger>();
            return context.Response.WriteAsync(ledger.Statement(Id(context)));
        }

        private static int Id(HttpContext context) => int.Parse((string)context.GetRouteValue("id"));
    }
}
